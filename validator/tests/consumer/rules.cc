#include <hprof/hprof.h>

#include <iostream>

int main()
{
    for (std::size_t i = 0; i < hprof_rule_count(); i++)
        std::cout << hprof_rule_at(i)->id << '\n';
}
