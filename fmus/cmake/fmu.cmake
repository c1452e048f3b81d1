# From a model and an encoding to FMUs.

# An encoding's file and class, and the encoding parameter of its MIME type. To add one,
# add its line.
function(about_encoding encoding)
  set(protobuf protobuf.hpp Protobuf "none")
  # The same bytes from objects on an arena.
  set(protobuf-arena arena.hpp ProtobufArena "none")
  set(flatbuffers-tables tables.hpp FlatbuffersTables flatbuffers-tables)
  set(flatbuffers-structs structs.hpp FlatbuffersStructs flatbuffers-structs)
  # Another way to make the same bytes as tables.
  set(flatbuffers-objects objects.hpp FlatbuffersObjects flatbuffers-tables)
  set(packed packed.hpp Packed packed)
  # The same field with other columns.
  set(packed-f32 packed_f32.hpp PackedF32 packed)
  set(packed-reduced packed_reduced.hpp PackedReduced packed)
  set(packed-exact packed_exact.hpp PackedExact packed)
  list(GET ${encoding} 0 file)
  list(GET ${encoding} 1 class)
  list(GET ${encoding} 2 parameter)
  set(encoding_file encodings/${file} PARENT_SCOPE)
  set(encoding_class ${class} PARENT_SCOPE)
  set(mime "")
  if(NOT parameter STREQUAL "none")
    set(mime "; encoding=${parameter}")
  endif()
  set(mime "${mime}" PARENT_SCOPE)
endfunction()

# A model's class, description template, input, output and its type, and what it is.
function(about_model model)
  set(source Source source "" OSMPSensorViewOut SensorView
    "SensorView with lidar reflections and moving objects")
  set(sensor Sensor sensor OSMPSensorViewIn OSMPSensorDataOut SensorData
    "Lidar detections and detected objects from a SensorView")
  # An agent has the variables of a sensor, but for the output's name.
  set(pedestrian Pedestrian sensor OSMPSensorViewIn OSMPTrafficUpdateOut TrafficUpdate
    "A pedestrian among the objects of a SensorView, open loop")
  set(player Player player "" OSMPSensorViewOut SensorView
    "The SensorViews of a trace file, by their times or one a step")
  set(recorder Recorder recorder OSMPSensorViewIn "" SensorView
    "SensorViews into a trace file")
  set(i 0)
  foreach(name model_class template input output type description)
    list(GET ${model} ${i} value)
    set(${name} "${value}" PARENT_SCOPE)
    math(EXPR i "${i} + 1")
  endforeach()
endfunction()

# The adapters know no model, so they are compiled once.
foreach(version 2 3)
  add_library(fmi${version} OBJECT EXCLUDE_FROM_ALL fmi${version}.cpp)
  target_include_directories(fmi${version} PRIVATE .)
  target_include_directories(fmi${version} SYSTEM PRIVATE ${FMI_HEADERS})
  target_compile_options(fmi${version} PRIVATE ${WARNINGS})
endforeach()

# A model in an encoding, for FMUs of both versions.
function(add_model model encoding)
  about_model(${model})
  about_encoding(${encoding})
  set(target model-${model}-${encoding})
  add_library(${target} OBJECT make_model.cpp)
  target_include_directories(${target} PRIVATE . include)
  target_compile_definitions(${target} PRIVATE
    WIREGAUGE_MODEL_HEADER="models/${model}.hpp" WIREGAUGE_MODEL=${model_class}
    WIREGAUGE_ENCODING_HEADER="${encoding_file}" WIREGAUGE_ENCODING=${encoding_class})
  target_compile_options(${target} PRIVATE ${WARNINGS})
  target_link_libraries(${target} PRIVATE ${encoding})
  get_target_property(headers ${encoding} PRECOMPILED)
  if(headers)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# The FMU of a model in an encoding, fmus/<model>-<encoding>[-fmi3].fmu.
function(add_fmu model encoding version)
  about_model(${model})
  about_encoding(${encoding})
  set(name ${model}-${encoding})
  set(file ${name})
  set(platform linux64)
  if(version EQUAL 3)
    set(file ${name}-fmi3)
    set(platform x86_64-linux)
  endif()
  if(WIN32)
    string(REPLACE linux win platform ${platform})
    string(REPLACE x86_64-win x86_64-windows platform ${platform})
  endif()
  string(MAKE_C_IDENTIFIER ${name} identifier)
  # Always the same for what is the same, so that two builds make the same FMU.
  string(UUID guid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1
    NAME "wiregauge ${PROJECT_VERSION} ${file} ${OSI_VERSION}")

  set(osi "application/x-open-simulation-interface")
  set(input_mime "${osi}; type=SensorView; version=${OSI_VERSION}${mime}")
  set(output_mime "${osi}; type=${type}; version=${OSI_VERSION}${mime}")

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/unpacked/${file})
  configure_file(descriptions/${template}.fmi${version}.xml.in
    ${folder}/modelDescription.xml @ONLY)
  configure_file(identity.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/identity/${file}.cpp @ONLY)

  add_library(${file} MODULE ${CMAKE_CURRENT_BINARY_DIR}/identity/${file}.cpp
    $<TARGET_OBJECTS:fmi${version}> $<TARGET_OBJECTS:model-${name}>)
  target_include_directories(${file} PRIVATE .)
  target_link_libraries(${file} PRIVATE ${encoding})
  # Symbolic, as FMUs of one process must not take each other's functions.
  target_link_options(${file} PRIVATE -Wl,-Bsymbolic -Wl,--no-undefined)
  set_target_properties(${file} PROPERTIES
    PREFIX ""
    OUTPUT_NAME ${identifier}
    LIBRARY_OUTPUT_DIRECTORY ${folder}/binaries/${platform}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN")

  set(libraries)
  set(needed)
  get_target_property(linked ${encoding} INTERFACE_LINK_LIBRARIES)
  if("osi" IN_LIST linked)
    set(libraries COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:osi> ${folder}/binaries/${platform})
    set(needed osi)
  endif()
  if(OTHER_PLATFORM)
    list(APPEND libraries COMMAND ${CMAKE_COMMAND} -E copy_directory
      ${OTHER_PLATFORM}/unpacked/${file}/binaries ${folder}/binaries)
    list(APPEND needed ${OTHER_PLATFORM}/fmus/${file}.fmu)
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fmus)
  set(fmu ${CMAKE_BINARY_DIR}/fmus/${file}.fmu)
  add_custom_command(
    OUTPUT ${fmu}
    ${libraries}
    COMMAND ${CMAKE_COMMAND} -E tar cf ${fmu} --format=zip modelDescription.xml binaries
    WORKING_DIRECTORY ${folder}
    DEPENDS ${file} ${needed} ${folder}/modelDescription.xml
    VERBATIM)
  add_custom_target(fmu-${file} ALL DEPENDS ${fmu})
endfunction()
