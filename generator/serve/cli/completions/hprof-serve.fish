# Derived from the tables of options by ci/derive.
complete -c hprof-serve -l format -x -a 'b a' -d 'b is records, the default'
complete -c hprof-serve -l cpu -x -a 'off samples times old' -d 'The agent\'s option cpu; samples is the default'
complete -c hprof-serve -l monitor -d 'With --format a'
complete -c hprof-serve -l orders -d 'Read on standard input what the program that the agent watches does, a byte each'
complete -c hprof-serve -s V -l version -d 'Print the version'
complete -c hprof-serve -s h -l help -d 'Print the options'
