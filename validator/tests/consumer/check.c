#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include <hprof/hprof.h>

static int print(void *context, const struct hprof_finding *f)
{
    (void)context;
    printf("%s at 0x%" PRIx64 ": expected %s; found %s\n", hprof_rule_at(f->rule)->id, f->offset, f->expected, f->found);
    return 0;
}

int main(int argc, char **argv)
{
    struct hprof_options options;
    hprof_options_init(&options);
    options.profile = hprof_profile_find("auto");
    options.on_finding = print;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    return fd < 0 ? HPROF_IO : (int)hprof_validate_fd(fd, &options, NULL);
}
