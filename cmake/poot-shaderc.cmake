# poot::shaderc: shaderc linked statically, so that a program compiles its own kernels. (Debian's shared library cannot be
# opened at run time.) Not defined where the static libraries are not installed. In Debian: libshaderc-dev, glslang-dev,
# spirv-tools.
if(NOT TARGET poot::shaderc)
  set(poot_shaderc_libraries "")
  set(poot_shaderc_missing "")
  foreach(name IN ITEMS shaderc_combined SPIRV glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler HLSL
                        SPIRV-Tools-opt SPIRV-Tools)
    find_library(POOT_SHADERC_${name} lib${name}.a)
    mark_as_advanced(POOT_SHADERC_${name})
    if(POOT_SHADERC_${name})
      list(APPEND poot_shaderc_libraries ${POOT_SHADERC_${name}})
    else()
      list(APPEND poot_shaderc_missing lib${name}.a)
    endif()
  endforeach()
  if(NOT poot_shaderc_missing)
    find_package(Threads REQUIRED)
    add_library(poot::shaderc INTERFACE IMPORTED GLOBAL)
    # poot/run/shaderc.hpp refers to it weakly; -u takes it from the archives.
    set_target_properties(poot::shaderc PROPERTIES
      INTERFACE_LINK_LIBRARIES "-Wl,--start-group;${poot_shaderc_libraries};-Wl,--end-group;Threads::Threads"
      INTERFACE_LINK_OPTIONS "LINKER:-u,shaderc_compiler_initialize,-u,spvSoftwareVersionDetailsString")
  endif()
endif()
