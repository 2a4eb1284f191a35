/* For messages.h: the reports are written by a fuzz target, not by hprof-validate. */
#include "messages.h"

const char program_name[] = "fuzz_report";
