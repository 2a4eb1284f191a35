# The manual pages, which are written in Markdown beside the tools, and the completions for shells, which ci/derive writes.

find_program(HPROF_LOWDOWN lowdown DOC "lowdown, which makes the manual pages from Markdown")
set(HPROF_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where completions for zsh are installed")
file(STRINGS CHANGELOG.md newest REGEX "^## " LIMIT_COUNT 1)
if(NOT newest MATCHES "^## ${PROJECT_VERSION}, ([0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9])$")
  message(FATAL_ERROR "The newest section of CHANGELOG.md is not that of ${PROJECT_VERSION}")
endif()
set(hprof_date ${CMAKE_MATCH_1})

# With the tools; or in the component and the folder that are given.
function(add_page name section folder)
  set(component tools)
  set(manuals ${CMAKE_INSTALL_MANDIR})
  if(ARGC GREATER 3)
    set(component ${ARGV3})
    set(manuals ${ARGV4})
  endif()
  if(HPROF_LOWDOWN)
    set(source ${PROJECT_SOURCE_DIR}/${folder}/${name}.${section}.md)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.${section})
    # Links between files of the tree lead nowhere in a page; versions of lowdown differ in what they make of them.
    add_custom_command(OUTPUT ${page} DEPENDS ${source} VERBATIM
      COMMAND sed -E "s/\\[([^]]*)\\]\\([^)]*\\)/**\\1**/g" ${source} > ${page}.md
      COMMAND ${HPROF_LOWDOWN} -s -t man --nroff-nolinks --out-no-smarty --parse-no-intraemph -M title=${name} -M section=${section}
        -M date=${hprof_date} -M "source=hprof ${PROJECT_VERSION}" -o ${page} ${page}.md)
    add_custom_target(${name}-manual ALL DEPENDS ${page})
    install(FILES ${page} DESTINATION ${manuals}/man${section} COMPONENT ${component})
  endif()
endfunction()

function(add_manual tool folder)
  add_page(${tool} 1 ${folder})
  set(completions ${folder}/completions)
  install(FILES ${completions}/${tool}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${tool}
    COMPONENT tools)
  install(FILES ${completions}/_${tool} DESTINATION ${HPROF_ZSH_COMPLETIONS} COMPONENT tools)
  install(FILES ${completions}/${tool}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endfunction()

add_manual(hprof validator/cli/front)
add_manual(hprof-validate validator/cli)
add_manual(hprof-diff validator/cli/diff)
add_manual(hprof-reduce validator/reduce/cli)
if(HPROF_GENERATOR)
  add_manual(hprof-gen generator/cli)
  add_manual(hprof-serve generator/serve/cli)
endif()
add_page(hprof-ascii 1 generator/python)
if(TARGET hprof-agent)
  add_page(libhprof 7 generator/agent)
endif()

# hprof-fleet is Python alone, and in the Python package.
if(HPROF_WHEEL)
  add_page(hprof-fleet 1 validator/python wheel ${SKBUILD_DATA_DIR}/share/man)
  if(TARGET hprof-fleet-manual)
    add_dependencies(hprof-python hprof-fleet-manual) # pip builds what is named in pyproject.toml
  endif()
  set(completions validator/python/completions)
  set(share ${SKBUILD_DATA_DIR}/share)
  install(FILES ${completions}/hprof-fleet.bash DESTINATION ${share}/bash-completion/completions RENAME hprof-fleet COMPONENT wheel)
  install(FILES ${completions}/_hprof-fleet DESTINATION ${share}/zsh/site-functions COMPONENT wheel)
  install(FILES ${completions}/hprof-fleet.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT wheel)
endif()
