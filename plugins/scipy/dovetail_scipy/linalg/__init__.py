"""Linear algebra: factorizations, equations, functions of matrices, special matrices."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_scipy.linalg.equations import (
        cho_solve as cho_solve,
        det as det,
        inv as inv,
        lu_solve as lu_solve,
        solve as solve,
        solve_triangular as solve_triangular,
    )
    from dovetail_scipy.linalg.exponential import expm as expm, expm_frechet as expm_frechet
    from dovetail_scipy.linalg.factorizations import (
        cho_factor as cho_factor,
        cholesky as cholesky,
        eigh as eigh,
        lu as lu,
        lu_factor as lu_factor,
        polar as polar,
        qr as qr,
        qr_multiply as qr_multiply,
        svd as svd,
    )
    from dovetail_scipy.linalg.matrix_functions import (
        funm as funm,
        hessenberg as hessenberg,
        rsf2csf as rsf2csf,
        schur as schur,
        sqrtm as sqrtm,
    )
    from dovetail_scipy.linalg.special_matrices import (
        dft as dft,
        hadamard as hadamard,
        helmert as helmert,
        hilbert as hilbert,
        invhilbert as invhilbert,
        invpascal as invpascal,
        pascal as pascal,
    )
    from dovetail_scipy.linalg.structured import (
        block_diag as block_diag,
        circulant as circulant,
        companion as companion,
        convolution_matrix as convolution_matrix,
        fiedler as fiedler,
        fiedler_companion as fiedler_companion,
        hankel as hankel,
        leslie as leslie,
        toeplitz as toeplitz,
    )
    from dovetail_scipy.linalg.sylvester import solve_sylvester as solve_sylvester
    from dovetail_scipy.linalg.tridiagonal import eigh_tridiagonal as eigh_tridiagonal
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)

__programs__ = """
block_diag convolution_matrix dft eigh_tridiagonal expm expm_frechet hadamard helmert
hessenberg hilbert invhilbert invpascal lu lu_factor lu_solve pascal polar rsf2csf
solve_sylvester
""".split()
