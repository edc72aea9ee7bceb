"""``dovetail.numpy``: NumPy's functions on arrays that can be traced, by JAX's names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_numpy.analysis.interpolation import interp as interp
    from dovetail_numpy.analysis.polynomials import (
        poly as poly,
        polyadd as polyadd,
        polyder as polyder,
        polydiv as polydiv,
        polyfit as polyfit,
        polyint as polyint,
        polymul as polymul,
        polysub as polysub,
        polyval as polyval,
        roots as roots,
    )
    from dovetail_numpy.analysis.signal import (
        bartlett as bartlett,
        blackman as blackman,
        convolve as convolve,
        correlate as correlate,
        gradient as gradient,
        hamming as hamming,
        hanning as hanning,
        kaiser as kaiser,
        trapezoid as trapezoid,
        unwrap as unwrap,
    )
    from dovetail_numpy.analysis.statistics import (
        bincount as bincount,
        corrcoef as corrcoef,
        cov as cov,
        histogram as histogram,
        histogram2d as histogram2d,
        histogram_bin_edges as histogram_bin_edges,
        histogramdd as histogramdd,
    )
    from dovetail_numpy.contraction.einsum import einsum as einsum, einsum_path as einsum_path
    from dovetail_numpy.contraction.matmul import matmul as matmul
    from dovetail_numpy.contraction.products import (
        cross as cross,
        dot as dot,
        inner as inner,
        kron as kron,
        matvec as matvec,
        outer as outer,
        tensordot as tensordot,
        vdot as vdot,
        vecdot as vecdot,
        vecmat as vecmat,
    )
    from dovetail_numpy.creation.arrays import (
        array as array,
        asarray as asarray,
        copy as copy,
        from_dlpack as from_dlpack,
        frombuffer as frombuffer,
        fromstring as fromstring,
    )
    from dovetail_numpy.creation.filled import (
        empty as empty,
        empty_like as empty_like,
        full as full,
        full_like as full_like,
        ones as ones,
        ones_like as ones_like,
        zeros as zeros,
        zeros_like as zeros_like,
    )
    from dovetail_numpy.creation.matrices import (
        diag as diag,
        diagflat as diagflat,
        diagonal as diagonal,
        eye as eye,
        fromfunction as fromfunction,
        identity as identity,
        indices as indices,
        meshgrid as meshgrid,
        trace as trace,
        tri as tri,
        tril as tril,
        triu as triu,
        vander as vander,
    )
    from dovetail_numpy.creation.ranges import (
        arange as arange,
        geomspace as geomspace,
        linspace as linspace,
        logspace as logspace,
    )
    from dovetail_numpy.dtypes.conversion import astype as astype
    from dovetail_numpy.dtypes.inspection import (
        can_cast as can_cast,
        iscomplexobj as iscomplexobj,
        isdtype as isdtype,
        isrealobj as isrealobj,
        isscalar as isscalar,
        issubdtype as issubdtype,
        iterable as iterable,
        promote_types as promote_types,
        result_type as result_type,
    )
    from dovetail_numpy.dtypes.scalar_types import (
        ComplexWarning as ComplexWarning,
        bfloat16 as bfloat16,
        bool as bool,
        bool_ as bool_,
        cdouble as cdouble,
        character as character,
        complex64 as complex64,
        complex128 as complex128,
        complex_ as complex_,
        complexfloating as complexfloating,
        csingle as csingle,
        double as double,
        dtype as dtype,
        e as e,
        euler_gamma as euler_gamma,
        finfo as finfo,
        flexible as flexible,
        float4_e2m1fn as float4_e2m1fn,
        float6_e2m3fn as float6_e2m3fn,
        float6_e3m2fn as float6_e3m2fn,
        float8_e3m4 as float8_e3m4,
        float8_e4m3 as float8_e4m3,
        float8_e4m3b11fnuz as float8_e4m3b11fnuz,
        float8_e4m3fn as float8_e4m3fn,
        float8_e4m3fnuz as float8_e4m3fnuz,
        float8_e5m2 as float8_e5m2,
        float8_e5m2fnuz as float8_e5m2fnuz,
        float8_e8m0fnu as float8_e8m0fnu,
        float16 as float16,
        float32 as float32,
        float64 as float64,
        float_ as float_,
        floating as floating,
        generic as generic,
        iinfo as iinfo,
        inexact as inexact,
        inf as inf,
        int1 as int1,
        int2 as int2,
        int4 as int4,
        int8 as int8,
        int16 as int16,
        int32 as int32,
        int64 as int64,
        int_ as int_,
        integer as integer,
        nan as nan,
        ndarray as ndarray,
        newaxis as newaxis,
        number as number,
        object_ as object_,
        pi as pi,
        signedinteger as signedinteger,
        single as single,
        uint as uint,
        uint1 as uint1,
        uint2 as uint2,
        uint4 as uint4,
        uint8 as uint8,
        uint16 as uint16,
        uint32 as uint32,
        uint64 as uint64,
        unsignedinteger as unsignedinteger,
    )
    from dovetail_numpy.equality import (
        allclose as allclose,
        array_equal as array_equal,
        array_equiv as array_equiv,
        isclose as isclose,
    )
    from dovetail_numpy.functional import (
        apply_along_axis as apply_along_axis,
        apply_over_axes as apply_over_axes,
        vectorize as vectorize,
    )
    from dovetail_numpy.indexing.selecting import (
        compress as compress,
        extract as extract,
        place as place,
    )
    from dovetail_numpy.indexing.taking import (
        choose as choose,
        put as put,
        put_along_axis as put_along_axis,
        take as take,
        take_along_axis as take_along_axis,
    )
    from dovetail_numpy.indexing.tricks import (
        c_ as c_,
        diag_indices as diag_indices,
        diag_indices_from as diag_indices_from,
        fill_diagonal as fill_diagonal,
        index_exp as index_exp,
        ix_ as ix_,
        mask_indices as mask_indices,
        mgrid as mgrid,
        ogrid as ogrid,
        r_ as r_,
        ravel_multi_index as ravel_multi_index,
        s_ as s_,
        tril_indices as tril_indices,
        tril_indices_from as tril_indices_from,
        triu_indices as triu_indices,
        triu_indices_from as triu_indices_from,
        unravel_index as unravel_index,
    )
    from dovetail_numpy.input_output import (
        array_repr as array_repr,
        array_str as array_str,
        fromfile as fromfile,
        fromiter as fromiter,
        get_printoptions as get_printoptions,
        load as load,
        printoptions as printoptions,
        save as save,
        savez as savez,
        set_printoptions as set_printoptions,
    )
    from dovetail_numpy.manipulation.joining import (
        append as append,
        array_split as array_split,
        block as block,
        column_stack as column_stack,
        concat as concat,
        concatenate as concatenate,
        dsplit as dsplit,
        dstack as dstack,
        hsplit as hsplit,
        hstack as hstack,
        split as split,
        stack as stack,
        unstack as unstack,
        vsplit as vsplit,
        vstack as vstack,
    )
    from dovetail_numpy.manipulation.padding import pad as pad
    from dovetail_numpy.manipulation.rearranging import (
        delete as delete,
        flip as flip,
        fliplr as fliplr,
        flipud as flipud,
        insert as insert,
        repeat as repeat,
        roll as roll,
        rot90 as rot90,
        tile as tile,
        trim_zeros as trim_zeros,
    )
    from dovetail_numpy.manipulation.shapes import (
        atleast_1d as atleast_1d,
        atleast_2d as atleast_2d,
        atleast_3d as atleast_3d,
        broadcast_arrays as broadcast_arrays,
        broadcast_shapes as broadcast_shapes,
        broadcast_to as broadcast_to,
        expand_dims as expand_dims,
        matrix_transpose as matrix_transpose,
        moveaxis as moveaxis,
        ndim as ndim,
        permute_dims as permute_dims,
        ravel as ravel,
        reshape as reshape,
        resize as resize,
        rollaxis as rollaxis,
        shape as shape,
        size as size,
        squeeze as squeeze,
        swapaxes as swapaxes,
        transpose as transpose,
    )
    from dovetail_numpy.reductions.basic import (
        all as all,
        amax as amax,
        amin as amin,
        any as any,
        argmax as argmax,
        argmin as argmin,
        count_nonzero as count_nonzero,
        max as max,
        min as min,
        prod as prod,
        ptp as ptp,
        sum as sum,
    )
    from dovetail_numpy.reductions.cumulative import (
        cumprod as cumprod,
        cumsum as cumsum,
        cumulative_prod as cumulative_prod,
        cumulative_sum as cumulative_sum,
        diff as diff,
        ediff1d as ediff1d,
        nancumprod as nancumprod,
        nancumsum as nancumsum,
    )
    from dovetail_numpy.reductions.ignoring_nan import (
        nanargmax as nanargmax,
        nanargmin as nanargmin,
        nanmax as nanmax,
        nanmean as nanmean,
        nanmin as nanmin,
        nanprod as nanprod,
        nanstd as nanstd,
        nansum as nansum,
        nanvar as nanvar,
    )
    from dovetail_numpy.reductions.moments import (
        average as average,
        mean as mean,
        std as std,
        var as var,
    )
    from dovetail_numpy.reductions.quantiles import (
        median as median,
        nanmedian as nanmedian,
        nanpercentile as nanpercentile,
        nanquantile as nanquantile,
        percentile as percentile,
        quantile as quantile,
    )
    from dovetail_numpy.searching.finding import (
        argwhere as argwhere,
        digitize as digitize,
        flatnonzero as flatnonzero,
        nonzero as nonzero,
        searchsorted as searchsorted,
    )
    from dovetail_numpy.searching.sets import (
        intersect1d as intersect1d,
        isin as isin,
        setdiff1d as setdiff1d,
        setxor1d as setxor1d,
        union1d as union1d,
        unique as unique,
        unique_all as unique_all,
        unique_counts as unique_counts,
        unique_inverse as unique_inverse,
        unique_values as unique_values,
    )
    from dovetail_numpy.searching.sorting import (
        argpartition as argpartition,
        argsort as argsort,
        lexsort as lexsort,
        partition as partition,
        sort as sort,
        sort_complex as sort_complex,
    )
    from dovetail_numpy.ufuncs.arithmetic import (
        divide as divide,
        divmod as divmod,
        float_power as float_power,
        floor_divide as floor_divide,
        fmod as fmod,
        mod as mod,
        pow as pow,
        power as power,
        remainder as remainder,
        true_divide as true_divide,
    )
    from dovetail_numpy.ufuncs.bits import (
        bitwise_left_shift as bitwise_left_shift,
        bitwise_right_shift as bitwise_right_shift,
        gcd as gcd,
        lcm as lcm,
        left_shift as left_shift,
        packbits as packbits,
        right_shift as right_shift,
        unpackbits as unpackbits,
    )
    from dovetail_numpy.ufuncs.clipping import (
        clip as clip,
        piecewise as piecewise,
        select as select,
        where as where,
    )
    from dovetail_numpy.ufuncs.comparisons import (
        equal as equal,
        greater as greater,
        greater_equal as greater_equal,
        iscomplex as iscomplex,
        isfinite as isfinite,
        isinf as isinf,
        isnan as isnan,
        isneginf as isneginf,
        isposinf as isposinf,
        isreal as isreal,
        less as less,
        less_equal as less_equal,
        logical_not as logical_not,
        not_equal as not_equal,
    )
    from dovetail_numpy.ufuncs.elementary import (
        acos as acos,
        acosh as acosh,
        arccos as arccos,
        arccosh as arccosh,
        arcsin as arcsin,
        arcsinh as arcsinh,
        arctan as arctan,
        arctanh as arctanh,
        asin as asin,
        asinh as asinh,
        atan as atan,
        atanh as atanh,
        cbrt as cbrt,
        cos as cos,
        cosh as cosh,
        deg2rad as deg2rad,
        degrees as degrees,
        exp as exp,
        exp2 as exp2,
        expm1 as expm1,
        log as log,
        log1p as log1p,
        log2 as log2,
        log10 as log10,
        rad2deg as rad2deg,
        radians as radians,
        reciprocal as reciprocal,
        sin as sin,
        sinh as sinh,
        sqrt as sqrt,
        tan as tan,
        tanh as tanh,
    )
    from dovetail_numpy.ufuncs.rounding import around as around, round as round
    from dovetail_numpy.ufuncs.special import (
        arctan2 as arctan2,
        atan2 as atan2,
        copysign as copysign,
        fmax as fmax,
        fmin as fmin,
        frexp as frexp,
        heaviside as heaviside,
        hypot as hypot,
        ldexp as ldexp,
        modf as modf,
        nan_to_num as nan_to_num,
        nextafter as nextafter,
    )
    from dovetail_numpy.ufuncs.ufunc import frompyfunc as frompyfunc, ufunc as ufunc
    from dovetail_numpy.ufuncs.unary import (
        abs as abs,
        absolute as absolute,
        angle as angle,
        bitwise_count as bitwise_count,
        bitwise_invert as bitwise_invert,
        bitwise_not as bitwise_not,
        ceil as ceil,
        conj as conj,
        conjugate as conjugate,
        fabs as fabs,
        floor as floor,
        i0 as i0,
        imag as imag,
        invert as invert,
        positive as positive,
        real as real,
        rint as rint,
        sign as sign,
        signbit as signbit,
        sinc as sinc,
        spacing as spacing,
        square as square,
        trunc as trunc,
    )
    from dovetail_numpy.ufuncs.universal import (
        add as add,
        bitwise_and as bitwise_and,
        bitwise_or as bitwise_or,
        bitwise_xor as bitwise_xor,
        logaddexp as logaddexp,
        logaddexp2 as logaddexp2,
        logical_and as logical_and,
        logical_or as logical_or,
        logical_xor as logical_xor,
        maximum as maximum,
        minimum as minimum,
        multiply as multiply,
        negative as negative,
        subtract as subtract,
    )

    from . import fft as fft, linalg as linalg
    from .dtypes.inspection import (
        __array_api_version__ as __array_api_version__,
        __array_namespace_info__ as __array_namespace_info__,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__programs__ = """
abs absolute acos acosh allclose angle append arccos arccosh arcsin arcsinh arctan arctan2
arctanh argpartition argsort around asin asinh atan atan2 atanh atleast_1d atleast_2d
atleast_3d bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift
block cbrt ceil clip conjugate convolve copysign corrcoef correlate cos cosh count_nonzero
cov cross cumprod cumsum deg2rad diagonal diff digitize divmod dot ediff1d equal exp exp2
expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd gradient greater
greater_equal heaviside hypot i0 imag inner invert isclose iscomplex isfinite isinf isnan
isreal kron lcm ldexp left_shift less less_equal lexsort log log10 log1p log2 logical_not
matmul matvec median modf nan_to_num nancumprod nancumsum nanmax nanmean nanmedian nanmin
nanpercentile nanprod nanquantile nanstd nansum nanvar nextafter not_equal outer packbits
partition percentile poly polyadd polyder polyfit polyint polysub polyval positive
put_along_axis quantile rad2deg ravel real reciprocal remainder resize right_shift rint
rollaxis rot90 round searchsorted sign signbit sin sinc sinh sort sort_complex spacing sqrt
square swapaxes take_along_axis tan tanh trace trapezoid tril triu true_divide trunc
unpackbits unstack unwrap vander vdot vecmat
""".split()
