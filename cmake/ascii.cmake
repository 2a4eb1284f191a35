# hprof-ascii needs Python alone: the program, and those modules of the package that it imports.

file(GLOB modules CONFIGURE_DEPENDS generator/python/hprof_corpus/ascii/*.py)
install(PROGRAMS generator/python/installed_ascii.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME hprof-ascii COMPONENT tools)
install(FILES generator/python/hprof_corpus/__init__.py generator/python/hprof_corpus/target.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hprof/hprof_corpus COMPONENT tools)
install(FILES ${modules} DESTINATION ${CMAKE_INSTALL_DATADIR}/hprof/hprof_corpus/ascii COMPONENT tools)
