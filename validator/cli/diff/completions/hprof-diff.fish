# Derived from the tables of options by ci/derive.
complete -c hprof-diff -s f -l format -x -a 'text json' -d 'Print text (the default), or JSON, which diff.schema.json describes'
complete -c hprof-diff -l max-differences -x -d 'Describe the first N differences, 10 by default, at most 10,000'
complete -c hprof-diff -l assert-redacted -d 'Check that B, which a redactor made of A, holds nothing of the heap but its structure, instead of comparing them'
complete -c hprof-diff -l constants -x -d 'With --assert-redacted'
complete -c hprof-diff -s q -l quiet -d 'Print nothing'
complete -c hprof-diff -s j -l jobs -x -d 'Check with N threads, 1 to 1024; by default as many as there are processors for this process'
complete -c hprof-diff -s h -l help -d 'Print the options'
complete -c hprof-diff -s V -l version -d 'Print the version'
