#include "twin/profile_line.h"

#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "twin/profile.h"

bool line_wrong(struct profile_line *line, const char *why)
{
    if (!*line->failure)
        snprintf(line->failure, PROFILE_FAILURE_SIZE, "line %u of the profile: %s", line->number, why);
    return false;
}

bool line_word(struct profile_line *line, const char *expected)
{
    size_t size = strlen(expected);

    if (strncmp(line->at, expected, size) != 0 || (line->at[size] && line->at[size] != ' '))
        return false;
    line->at += size + (line->at[size] == ' ');
    return true;
}

bool line_number(struct profile_line *line, uint64_t most, uint64_t *value)
{
    char *at = line->at;

    *value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        *value = *value * 10 + (uint64_t)(*at - '0');
        if (*value > most)
            return line_wrong(line, "a number is too large");
    }
    if (at == line->at || (*at && *at != ' '))
        return line_wrong(line, "a number was expected");
    line->at = at + (*at == ' ');
    return true;
}

bool line_is_end(struct profile_line *line)
{
    return !*line->at || line_wrong(line, "words follow that mean nothing");
}

const char *line_last_word(struct profile_line *line)
{
    const char *text = line->at;

    if (!*text || strchr(text, ' ')) {
        line_wrong(line, "a name was expected");
        return NULL;
    }
    return text;
}

bool line_type(struct profile_line *line, uint8_t *type)
{
    static const struct {
        const char *name;
        uint8_t type;
    } types[] = {{"object", TYPE_OBJECT}, {"boolean", TYPE_BOOLEAN}, {"char", TYPE_CHAR},
                 {"float", TYPE_FLOAT},   {"double", TYPE_DOUBLE},   {"byte", TYPE_BYTE},
                 {"short", TYPE_SHORT},   {"int", TYPE_INT},         {"long", TYPE_LONG}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (line_word(line, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    return line_wrong(line, "a type was expected");
}
