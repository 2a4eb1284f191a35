/* The digests of a dump's content (conformance/PROTOCOL.md, section 1), from the events of a source. The source is run several
 * times: references name objects that follow, and hashes of objects are made in rounds. */
#ifndef HPROF_GEN_DIGEST_H
#define HPROF_GEN_DIGEST_H

#include "stream/source.h"
#include "truth/truth.h"

enum digest_status { DIGEST_DONE, DIGEST_NO_MEMORY, DIGEST_SOURCE_FAILED, DIGEST_REFUSED };

/* Fills the digests of `truth`. DIGEST_REFUSED: a sentence in *failure says why there are none. */
enum digest_status digest_source(struct source *source, struct truth *truth, const char **failure);

#endif
