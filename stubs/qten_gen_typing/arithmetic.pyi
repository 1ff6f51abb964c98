from typing import Literal, Self

from torch import Tensor

class Arithmetic:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    def add(self, other: Self | Tensor | complex, *, alpha: complex = 1) -> Self:
        """The sum with `alpha` times the operand."""
    def add_(self, other: Self | Tensor | complex, *, alpha: complex = 1) -> Self:
        """`add`, in place."""
    def sub(self, other: Self | Tensor | complex, *, alpha: complex = 1) -> Self:
        """The difference to `alpha` times the operand."""
    def sub_(self, other: Self | Tensor | complex, *, alpha: complex = 1) -> Self:
        """`sub`, in place."""
    def rsub(self, other: Self | Tensor | complex, *, alpha: complex = 1) -> Self:
        """The operand minus `alpha` times the object."""
    def mul(self, other: Self | Tensor | complex) -> Self:
        """The product."""
    def mul_(self, other: Self | Tensor | complex) -> Self:
        """`mul`, in place."""
    def div(self, other: Self | Tensor | complex, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Self:
        """The quotient, rounded as `rounding_mode` says."""
    def div_(self, other: Self | Tensor | complex, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Self:
        """`div`, in place."""
    def mod(self, other: Self | Tensor | complex) -> Self:
        """The remainder of a division, with the sign of the divisor."""
    def pow(self, other: Self | Tensor | complex) -> Self:
        """The power with the operand as exponent."""
    def pow_(self, other: Self | Tensor | complex) -> Self:
        """`pow`, in place."""
    def maximum(self, other: Self | Tensor | complex) -> Self:
        """The larger of the two."""
    def maximum_(self, other: Self | Tensor | complex) -> Self:
        """`maximum`, in place."""
    def minimum(self, other: Self | Tensor | complex) -> Self:
        """The smaller of the two."""
    def minimum_(self, other: Self | Tensor | complex) -> Self:
        """`minimum`, in place."""
    def clamp_min(self, other: Self | Tensor | complex) -> Self:
        """Nothing smaller than the operand."""
    def clamp_min_(self, other: Self | Tensor | complex) -> Self:
        """`clamp_min`, in place."""
    def clamp_max(self, other: Self | Tensor | complex) -> Self:
        """Nothing larger than the operand."""
    def clamp_max_(self, other: Self | Tensor | complex) -> Self:
        """`clamp_max`, in place."""
    def bitwise_and(self, other: Self | Tensor | complex) -> Self:
        """Bits that both have."""
    def logical_and(self, other: Self | Tensor | complex) -> Self:
        """Whether both are nonzero."""
    def addcmul(
        self, tensor1: Self | Tensor | complex, tensor2: Self | Tensor | complex, *, value: complex = 1
    ) -> Self:
        """The sum with `value` times the product of two operands."""
    def addcmul_(
        self, tensor1: Self | Tensor | complex, tensor2: Self | Tensor | complex, *, value: complex = 1
    ) -> Self:
        """`addcmul`, in place."""
    def addcdiv(
        self, tensor1: Self | Tensor | complex, tensor2: Self | Tensor | complex, *, value: complex = 1
    ) -> Self:
        """The sum with `value` times the quotient of two operands."""
    def addcdiv_(
        self, tensor1: Self | Tensor | complex, tensor2: Self | Tensor | complex, *, value: complex = 1
    ) -> Self:
        """`addcdiv`, in place."""
    def lerp(self, end: Self | Tensor | complex, weight: Self | Tensor | complex) -> Self:
        """The object that lies between this one and `end`, `weight` of the way."""
    def lerp_(self, end: Self | Tensor | complex, weight: Self | Tensor | complex) -> Self:
        """`lerp`, in place."""
    def clamp(self, min: Self | Tensor | complex | None = None, max: Self | Tensor | complex | None = None) -> Self:
        """Every number between `min` and `max`, either of which may be left out."""
    def clamp_(self, min: Self | Tensor | complex | None = None, max: Self | Tensor | complex | None = None) -> Self:
        """`clamp`, in place."""
    def round(self, *, decimals: int = 0) -> Self:
        """Every number rounded to `decimals` places, halves to the even neighbour."""
    def round_(self, *, decimals: int = 0) -> Self:
        """`round`, in place."""
    def fill_(self, value: complex) -> Self:
        """Write a number into every tensor, in place."""
    def zero_(self) -> Self:
        """Write 0 into every tensor, in place."""
    def abs(self) -> Self:
        """The absolute value."""
    def abs_(self) -> Self:
        """`abs`, in place."""
    def neg(self) -> Self:
        """The negative."""
    def neg_(self) -> Self:
        """`neg`, in place."""
    def sign(self) -> Self:
        """-1, 0 or 1."""
    def sign_(self) -> Self:
        """`sign`, in place."""
    def reciprocal(self) -> Self:
        """One divided by the value."""
    def reciprocal_(self) -> Self:
        """`reciprocal`, in place."""
    def sqrt(self) -> Self:
        """The square root."""
    def sqrt_(self) -> Self:
        """`sqrt`, in place."""
    def exp(self) -> Self:
        """e to the power of the value."""
    def exp_(self) -> Self:
        """`exp`, in place."""
    def expm1(self) -> Self:
        """`exp(x) - 1`, exact near zero."""
    def expm1_(self) -> Self:
        """`expm1`, in place."""
    def log(self) -> Self:
        """The natural logarithm."""
    def log_(self) -> Self:
        """`log`, in place."""
    def log2(self) -> Self:
        """The logarithm to base 2."""
    def log2_(self) -> Self:
        """`log2`, in place."""
    def log10(self) -> Self:
        """The logarithm to base 10."""
    def log10_(self) -> Self:
        """`log10`, in place."""
    def log1p(self) -> Self:
        """`log(1 + x)`, exact near zero."""
    def log1p_(self) -> Self:
        """`log1p`, in place."""
    def sin(self) -> Self:
        """The sine."""
    def sin_(self) -> Self:
        """`sin`, in place."""
    def cos(self) -> Self:
        """The cosine."""
    def cos_(self) -> Self:
        """`cos`, in place."""
    def tan(self) -> Self:
        """The tangent."""
    def tan_(self) -> Self:
        """`tan`, in place."""
    def asin(self) -> Self:
        """The inverse sine."""
    def asin_(self) -> Self:
        """`asin`, in place."""
    def acos(self) -> Self:
        """The inverse cosine."""
    def acos_(self) -> Self:
        """`acos`, in place."""
    def atan(self) -> Self:
        """The inverse tangent."""
    def atan_(self) -> Self:
        """`atan`, in place."""
    def sinh(self) -> Self:
        """The hyperbolic sine."""
    def sinh_(self) -> Self:
        """`sinh`, in place."""
    def cosh(self) -> Self:
        """The hyperbolic cosine."""
    def cosh_(self) -> Self:
        """`cosh`, in place."""
    def tanh(self) -> Self:
        """The hyperbolic tangent."""
    def tanh_(self) -> Self:
        """`tanh`, in place."""
    def sigmoid(self) -> Self:
        """The logistic function."""
    def sigmoid_(self) -> Self:
        """`sigmoid`, in place."""
    def erf(self) -> Self:
        """The error function."""
    def erf_(self) -> Self:
        """`erf`, in place."""
    def erfc(self) -> Self:
        """One minus the error function."""
    def erfc_(self) -> Self:
        """`erfc`, in place."""
    def lgamma(self) -> Self:
        """The logarithm of the gamma function."""
    def lgamma_(self) -> Self:
        """`lgamma`, in place."""
    def ceil(self) -> Self:
        """Rounded up."""
    def ceil_(self) -> Self:
        """`ceil`, in place."""
    def floor(self) -> Self:
        """Rounded down."""
    def floor_(self) -> Self:
        """`floor`, in place."""
    def trunc(self) -> Self:
        """Rounded towards zero."""
    def trunc_(self) -> Self:
        """`trunc`, in place."""
    def frac(self) -> Self:
        """What `trunc` takes away."""
    def frac_(self) -> Self:
        """`frac`, in place."""
    def isfinite(self) -> Self:
        """Whether the value is neither infinite nor NaN."""
    def isnan(self) -> Self:
        """Whether the value is NaN."""
    def isposinf(self) -> Self:
        """Whether the value is infinity."""
    def isneginf(self) -> Self:
        """Whether the value is negative infinity."""
    def isreal(self) -> Self:
        """Whether the value has no imaginary part."""
