# From a model and an encoding to FMUs.

# The encodings' files and what their MIME types say besides OSI's version. Tables and
# objects are one format on the wire.
function(encode encoding)
  string(REPLACE "flatbuffers-" "" file ${encoding})
  set(header encodings/${file}.hpp PARENT_SCOPE)
  set(mime "" PARENT_SCOPE)
  if(encoding MATCHES "^flatbuffers-(tables|objects)$")
    set(mime "; encoding=flatbuffers-tables" PARENT_SCOPE)
  elseif(NOT encoding STREQUAL "protobuf")
    set(mime "; encoding=${encoding}" PARENT_SCOPE)
  endif()
endfunction()

set(WARNINGS -Wall -Wextra -Wpedantic)

# The adapters know no model, so they are compiled once.
foreach(version 2 3)
  add_library(fmi${version} OBJECT EXCLUDE_FROM_ALL fmi${version}.cpp)
  target_include_directories(fmi${version} PRIVATE .)
  target_include_directories(fmi${version} SYSTEM PRIVATE ${FMI_HEADERS})
  target_compile_options(fmi${version} PRIVATE ${WARNINGS})
endforeach()

# A model in an encoding, for FMUs of both versions.
function(add_model model encoding)
  encode(${encoding})
  set(target model-${model}-${encoding})
  add_library(${target} OBJECT make_model.cpp)
  target_include_directories(${target} PRIVATE . include)
  target_compile_definitions(${target} PRIVATE
    WIREGAUGE_MODEL="models/${model}.hpp" WIREGAUGE_ENCODING="${header}")
  target_compile_options(${target} PRIVATE ${WARNINGS})
  target_link_libraries(${target} PRIVATE ${encoding})
endfunction()

# The FMU of a model in an encoding, fmus/<model>-<encoding>[-fmi3].fmu.
function(add_fmu model encoding version)
  encode(${encoding})
  set(name ${model}-${encoding})
  set(file ${name})
  set(platform linux64)
  if(version EQUAL 3)
    set(file ${name}-fmi3)
    set(platform x86_64-linux)
  endif()
  string(MAKE_C_IDENTIFIER ${name} identifier)
  # Always the same for what is the same, so that two builds make the same FMU.
  string(UUID guid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1
    NAME "wiregauge ${PROJECT_VERSION} ${file} ${OSI_VERSION}")

  if(model STREQUAL "source")
    set(template source)
    set(input "")
    set(output OSMPSensorViewOut)
    set(type SensorView)
    set(description "SensorView with lidar reflections and moving objects")
  elseif(model STREQUAL "sensor")
    set(template sensor)
    set(input OSMPSensorViewIn)
    set(output OSMPSensorDataOut)
    set(type SensorData)
    set(description "Lidar detections and detected objects from a SensorView")
  else()
    # An agent has the sensor's variables, but for the output's name.
    set(template sensor)
    set(input OSMPSensorViewIn)
    set(output OSMPTrafficUpdateOut)
    set(type TrafficUpdate)
    set(description "A pedestrian among the objects of a SensorView, open loop")
  endif()
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
