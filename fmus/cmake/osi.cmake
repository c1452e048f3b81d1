# OSI's types in each format, generated from the descriptors.

# Headers that all models of some encodings include, compiled once: they take longer than
# what the models themselves say.
function(precompile name encodings)
  set(target ${name}-headers)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Its headers are what it is for.\n")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  list(GET encodings 0 first)
  target_link_libraries(${target} PRIVATE ${first})
  # A compiler takes them only where its flags are the same.
  target_compile_options(${target} PRIVATE ${WARNINGS})
  target_precompile_headers(${target} PRIVATE ${ARGN})
  foreach(encoding IN LISTS encodings)
    set_target_properties(${encoding} PROPERTIES PRECOMPILED ${target})
  endforeach()
endfunction()

# What Protobuf's encodings link: one shared object of a fixed name. Two FMUs of one
# process then have it once; had each its own copy of OSI, libprotobuf would refuse the
# second one's descriptors and abort.
if(ENCODINGS MATCHES "(^|;)(protobuf|packed)")
  require(OSI_DESCRIPTORS)
  find_package(Protobuf REQUIRED)
  find_package(Threads REQUIRED)

  # protoc wants the names of the files to compile: they are in the set.
  execute_process(
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --decode=google.protobuf.FileDescriptorSet
            --descriptor_set_in=${OSI_DESCRIPTORS} google/protobuf/descriptor.proto
    INPUT_FILE ${OSI_DESCRIPTORS}
    OUTPUT_VARIABLE text
    ERROR_VARIABLE error
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${OSI_DESCRIPTORS} is no FileDescriptorSet with imports: ${error}")
  endif()
  string(REGEX MATCHALL "\nfile {\n  name: \"[^\"]+\"" names "\n${text}")
  list(TRANSFORM names REPLACE ".*\"([^\"]+)\"" "\\1")
  # libprotobuf has these already.
  list(FILTER names EXCLUDE REGEX "^google/protobuf/")

  set(folder ${CMAKE_BINARY_DIR}/protobuf)
  list(TRANSFORM names REPLACE "^(.*)\\.proto$" "${folder}/\\1.pb.cc" OUTPUT_VARIABLE sources)
  list(TRANSFORM names REPLACE "^(.*)\\.proto$" "${folder}/\\1.pb.h" OUTPUT_VARIABLE headers)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${sources} ${headers}
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --descriptor_set_in=${OSI_DESCRIPTORS}
            --cpp_out=${folder} ${names}
    DEPENDS ${OSI_DESCRIPTORS}
    VERBATIM)
  add_library(osi SHARED ${sources})
  set_target_properties(osi PROPERTIES CXX_VISIBILITY_PRESET default)
  target_precompile_headers(osi PRIVATE
    <google/protobuf/message.h> <google/protobuf/generated_message_reflection.h>
    <google/protobuf/extension_set.h> <google/protobuf/wire_format.h>)
  target_include_directories(osi SYSTEM PUBLIC ${folder})
  target_link_libraries(osi PUBLIC protobuf::libprotobuf)

  set(users ${ENCODINGS})
  list(FILTER users INCLUDE REGEX "^(protobuf|packed)")
  foreach(encoding IN LISTS users)
    target_link_libraries(${encoding} INTERFACE osi)
    if(encoding MATCHES "^packed")
      require(PACKED_INCLUDE)
      target_include_directories(${encoding} INTERFACE ${PACKED_INCLUDE})
    endif()
  endforeach()
  precompile(protobuf "${users}"
    <google/protobuf/arena.h> <google/protobuf/io/coded_stream.h>
    <osi3/osi_sensordata.pb.h> <osi3/osi_sensorview.pb.h> <osi3/osi_trafficupdate.pb.h>)
endif()

# A header from a FlatBuffers schema, as <encoding>/osi_generated.h.
function(flatbuffers encoding schema)
  if(NOT encoding IN_LIST ENCODINGS)
    return()
  endif()
  require(${schema})
  find_program(FLATC flatc REQUIRED)
  set(folder ${CMAKE_BINARY_DIR}/${encoding})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/osi_generated.h
    # flatc names its output by its input.
    COMMAND ${CMAKE_COMMAND} -E copy ${${schema}} ${folder}/osi.fbs
    COMMAND ${FLATC} --cpp --no-warnings ${ARGN} -o ${folder} ${folder}/osi.fbs
    DEPENDS ${${schema}}
    VERBATIM)
  add_custom_target(${encoding}-header DEPENDS ${folder}/osi_generated.h)
  target_include_directories(${encoding} SYSTEM INTERFACE ${folder} ${FLATBUFFERS_INCLUDE})
  add_dependencies(${encoding} ${encoding}-header)
  precompile(${encoding} ${encoding} <osi_generated.h>)
endfunction()

flatbuffers(flatbuffers-tables OSI_TABLES)
flatbuffers(flatbuffers-structs OSI_STRUCTS)
flatbuffers(flatbuffers-objects OSI_TABLES --gen-object-api)
