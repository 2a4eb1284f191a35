# hprof-ascii needs Python alone: the program, and those modules of the package that it imports.

install(PROGRAMS generator/python/installed_ascii.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME hprof-ascii COMPONENT tools)
install(FILES generator/python/hprof_corpus/__init__.py generator/python/hprof_corpus/target.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hprof/hprof_corpus COMPONENT tools)
set(modules __init__.py check.py command.py findings.py grammar.py heap.py ids.py lines.py monitors.py rules.py state.py tables.py)
list(TRANSFORM modules PREPEND generator/python/hprof_corpus/ascii/)
install(FILES ${modules} DESTINATION ${CMAKE_INSTALL_DATADIR}/hprof/hprof_corpus/ascii COMPONENT tools)
