/* One command of the peer of a socket, from its bytes. */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command {
    COMMAND_COLLECT = 0x01,
    COMMAND_HEAP = 0x02,
    COMMAND_SITES = 0x03,
    COMMAND_SUMMARY = 0x04,
    COMMAND_EXIT = 0x05,
    COMMAND_TRACES = 0x06,
    COMMAND_SAMPLES = 0x07,
    COMMAND_CONTROL = 0x08,
    COMMAND_END = 0xff
};

enum control {
    CONTROL_NONE,
    CONTROL_TRACES_ON,
    CONTROL_TRACES_OFF,
    CONTROL_SAMPLING_ON,
    CONTROL_SAMPLING_OFF,
    CONTROL_FORGET_SAMPLES,
    CONTROL_DEPTH,
    CONTROL_FORGET_SITES
};

struct request {
    enum command command;
    unsigned flags; /* of sites */
    double cutoff;  /* of sites and samples */
    enum control control;
    uint64_t thread; /* the ID of its object; 0 for all */
    unsigned depth;
};

/* False if the data is too short, or its values are none that the manual has. */
bool request_parse(struct request *request, unsigned command, const uint8_t *data, size_t size, unsigned id_size);

#endif
