# Finds CUDA and NCCL for programs in C; included by the Makefiles here and in bench/gpu.
#   NCCL_HOME  folder with include/nccl.h and lib/libnccl.so.2; else the NCCL that came with Python's packages (the one
#              PyTorch uses), else CUDA_HOME, else the system's
#   CUDA_HOME  /usr/local/cuda
PYTHON ?= python3
CUDA_HOME ?= /usr/local/cuda
CFLAGS ?= -O2 -g
pip_folder = $(shell $(PYTHON) -c 'import importlib; print(next(iter(importlib.import_module("nvidia.$(1)").__path__)))' 2>/dev/null)

ifeq ($(NCCL_HOME),)
  NCCL_HOME := $(call pip_folder,nccl)
  ifeq ($(wildcard $(NCCL_HOME)/include/nccl.h),)
    NCCL_HOME := $(patsubst %/include/nccl.h,%,$(wildcard $(CUDA_HOME)/include/nccl.h))
  endif
endif
ifneq ($(NCCL_HOME),)
  nccl_lib := $(patsubst %/,%,$(dir $(firstword $(wildcard $(NCCL_HOME)/lib/libnccl.so.2 $(NCCL_HOME)/lib64/libnccl.so.2))))
  nccl_cflags := -isystem $(NCCL_HOME)/include
  # The Python package has no libnccl.so, hence the name in full.
  nccl_libs := -L$(nccl_lib) -Wl,-rpath,$(nccl_lib) -l:libnccl.so.2
else
  nccl_libs := -lnccl
endif

# The static runtime needs nothing at run time; the shared one of Python's packages is the last resort.
cuda_dirs := $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib $(CUDA_HOME)/targets/*/lib)
cuda_static := $(firstword $(wildcard $(addsuffix /libcudart_static.a,$(cuda_dirs))))
cuda_shared := $(firstword $(wildcard $(addsuffix /libcudart.so,$(cuda_dirs))))
cuda_include := $(firstword $(patsubst %/cuda_runtime_api.h,%,$(wildcard \
    $(CUDA_HOME)/include/cuda_runtime_api.h $(CUDA_HOME)/targets/*/include/cuda_runtime_api.h)))
ifeq ($(cuda_include),)
  cuda_include := $(firstword $(wildcard $(call pip_folder,cu13)/include $(call pip_folder,cuda_runtime)/include))
endif
ifneq ($(cuda_static),)
  cuda_libs := $(cuda_static) -ldl -lrt -lpthread
else ifneq ($(cuda_shared),)
  cuda_libs := $(cuda_shared) -Wl,-rpath,$(dir $(cuda_shared))
else
  cuda_shared := $(firstword $(wildcard $(call pip_folder,cu13)/lib/libcudart.so.* $(call pip_folder,cuda_runtime)/lib/libcudart.so.*))
  cuda_libs := $(cuda_shared) -Wl,-rpath,$(dir $(cuda_shared))
endif

ALL_CFLAGS := -std=gnu11 -Wall -Wextra $(CFLAGS) $(if $(cuda_include),-isystem $(cuda_include)) $(nccl_cflags)
ALL_LIBS := $(LDFLAGS) $(nccl_libs) $(cuda_libs) -lm
