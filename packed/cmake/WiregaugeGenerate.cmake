#[[
wiregauge_generate() writes holders of messages while a project is built, by the program wiregauge:

  wiregauge_generate(
    TARGET scan                   # what is made: for cpp a library of headers, to link
    DEFINITIONS msg/Scan.msg …    # files, folders, or FILE:TYPE
    WIRE cdr …                    # wire formats
    [LANGUAGE cpp]                # cpp (default), java, python or rust
    [MODULE scan]                 # name of the files [default: that of TARGET]
    [INCLUDE folder …]            # where definitions that these use are looked for
    [OUTPUT folder])              # [default: a folder of the build]

The folder is in the target's property WIREGAUGE_OUTPUT. The program runs again where a definition,
a file in a folder of definitions or of INCLUDE, or the program itself has changed; what stays the
same is not written, so nothing is compiled again for it. WIREGAUGE_PROGRAM names the program where
it is not on the path.
]]
function(wiregauge_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;LANGUAGE;MODULE;OUTPUT"
                        "DEFINITIONS;WIRE;INCLUDE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "wiregauge_generate: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(name TARGET DEFINITIONS WIRE)
    if(NOT arg_${name})
      message(FATAL_ERROR "wiregauge_generate: ${name} is missing; give it a value")
    endif()
  endforeach()
  if(NOT arg_LANGUAGE)
    set(arg_LANGUAGE cpp)
  endif()
  if(NOT arg_MODULE)
    set(arg_MODULE ${arg_TARGET})
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_holders)
  endif()
  get_filename_component(arg_OUTPUT ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  find_program(WIREGAUGE_PROGRAM wiregauge DOC "The program that generates holders of messages")
  if(NOT WIREGAUGE_PROGRAM)
    message(FATAL_ERROR "wiregauge_generate: the program wiregauge is not on the path; install it, "
                        "or name it by -DWIREGAUGE_PROGRAM=PATH")
  endif()

  # A folder changes where one of its files does, or where one comes or goes.
  set(watched ${WIREGAUGE_PROGRAM})
  set(words)
  foreach(kind DEFINITIONS INCLUDE)
    foreach(path IN LISTS arg_${kind})
      get_filename_component(path ${path} ABSOLUTE)
      # FILE:TYPE is of the file.
      string(REGEX REPLACE ":[^:/\\\\]+$" "" file ${path})
      if(IS_DIRECTORY ${file})
        file(GLOB_RECURSE files CONFIGURE_DEPENDS ${file}/*.msg ${file}/*.proto)
        list(APPEND watched ${files})
      elseif(EXISTS ${file})
        list(APPEND watched ${file})
      else()
        message(FATAL_ERROR "wiregauge_generate: there is no ${file}; correct ${kind}")
      endif()
      if(kind STREQUAL "INCLUDE")
        list(APPEND words -I)
      endif()
      list(APPEND words ${path})
    endforeach()
  endforeach()
  string(REPLACE ";" "," wires "${arg_WIRE}")
  # What compilers include, so that Ninja compiles after it, and in the same build. There are
  # no views on the wire of Protobuf.
  set(headers)
  if(arg_LANGUAGE STREQUAL "cpp")
    list(APPEND headers ${arg_OUTPUT}/${arg_MODULE}.hpp)
    if(NOT wires STREQUAL "protobuf")
      list(APPEND headers ${arg_OUTPUT}/${arg_MODULE}.view.hpp)
    endif()
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_holders.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    BYPRODUCTS ${headers}
    COMMAND ${WIREGAUGE_PROGRAM} generate ${words} --language ${arg_LANGUAGE} --wire ${wires}
            --module ${arg_MODULE} -o ${arg_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${watched}
    COMMENT "Generating ${arg_LANGUAGE} holders ${arg_MODULE}"
    VERBATIM)
  if(arg_LANGUAGE STREQUAL "cpp")
    add_custom_target(${arg_TARGET}_generate DEPENDS ${stamp})
    add_library(${arg_TARGET} INTERFACE)
    target_compile_features(${arg_TARGET} INTERFACE cxx_std_17)
    target_include_directories(${arg_TARGET} INTERFACE ${arg_OUTPUT})
    add_dependencies(${arg_TARGET} ${arg_TARGET}_generate)
  else()
    add_custom_target(${arg_TARGET} ALL DEPENDS ${stamp})
  endif()
  set_property(TARGET ${arg_TARGET} PROPERTY WIREGAUGE_OUTPUT ${arg_OUTPUT})
endfunction()
