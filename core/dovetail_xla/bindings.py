"""Every name of jaxlib's C++ extension that the adapter uses; `bindings.pyi` says their types."""
# pyright: basic

from .loading import load

_jax = load("_jax")  # with NumPy, which no process can import again after half of it

from jaxlib._jax import (  # noqa: E402
    Array,
    ArrayCopySemantics,
    ArrayImpl,
    Client,
    CompileOptions,
    Device,
    DeviceAssignment,
    DeviceList,
    DistributedRuntimeClient,
    DistributedRuntimeService,
    Executable,
    ExecuteResults,
    GSPMDSharding,
    HostBufferSemantics,
    JaxRuntimeError,
    LoadedExecutable,
    Memory,
    NamedSharding,
    PjitFunction,
    PjitFunctionCache,
    ResultHandler,
    ShardedToken,
    Sharding,
    SingleDeviceSharding,
    array_result_handler,
    batched_block_until_ready,
    batched_copy_array_to_devices_with_sharding,
    batched_device_put,
    buffer_to_dlpack_managed_tensor,
    collect_garbage,
    create_preemption_sync_manager,
    custom_call_targets,
    dlpack_managed_tensor_to_buffer,
    get_distributed_runtime_client,
    get_distributed_runtime_service,
    make_gloo_tcp_collectives,
    pjit,
    pjrt_plugin_initialized,
    pjrt_plugin_loaded,
    pprof_profile_to_json,
    reorder_shards,
    set_tracebacks_enabled,
    set_tracer_class,
)

_hlo = load("_hlo")

HloSharding = _hlo.HloSharding
OpSharding = _hlo.OpSharding

Config = _jax.config.Config
unset = _jax.config.unset
trace_context = _jax.config.trace_context
trace_context_names = _jax.config.trace_context_names
set_enable_x64_state = _jax.jax_jit.set_enable_x64_state
set_disable_jit_state = _jax.jax_jit.set_disable_jit_state
set_post_hook_state = _jax.jax_jit.set_post_hook_state

GuardState = _jax.guard_lib.GuardState
TransferGuardLevel = _jax.guard_lib.TransferGuardLevel
GarbageCollectionGuardLevel = _jax.guard_lib.GarbageCollectionGuardLevel
guard_global_state = _jax.guard_lib.global_state
guard_thread_state = _jax.guard_lib.thread_local_state
update_thread_guard_global_state = _jax.guard_lib.update_thread_guard_global_state

PyTreeDef = _jax.pytree.PyTreeDef
PyTreeRegistry = _jax.pytree.PyTreeRegistry
treedef_tuple = _jax.pytree.treedef_tuple
all_leaves = _jax.pytree.all_leaves
SequenceKey = _jax.pytree.SequenceKey
DictKey = _jax.pytree.DictKey
GetAttrKey = _jax.pytree.GetAttrKey
FlattenedIndexKey = _jax.pytree.FlattenedIndexKey

Buffer = _jax.ffi.Buffer
ExecutionContext = _jax.ffi.ExecutionContext
ExecutionStage = _jax.ffi.ExecutionStage

serialize_portable_artifact = _jax.mlir.serialize_portable_artifact
deserialize_portable_artifact = _jax.mlir.deserialize_portable_artifact
mlir_module_to_xla_computation = _jax.mlir.mlir_module_to_xla_computation
hlo_to_stablehlo = _jax.mlir.hlo_to_stablehlo
refine_polymorphic_shapes = _jax.mlir.refine_polymorphic_shapes

ifrt_programs = _jax.ifrt_programs

# Missing where jaxlib was built without MPI.
make_mpi_collectives = getattr(_jax, "make_mpi_collectives", None)

# Present from jaxlib 0.12 on.
shard_args = getattr(_jax, "shard_args", None)
