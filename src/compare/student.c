#include "compare/student.h"

#include <math.h>

/* The continued fraction of the incomplete beta function, by Lentz's method; it converges for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < tiny) d = tiny;
    d = 1 / d;
    double value = d;
    for (int m = 1; m <= 500; m++) {
        const double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double step = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            c = 1 + terms[k] / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            step = d * c;
            value *= step;
        }
        if (fabs(step - 1) < 1e-15) break;
    }
    return value;
}

/* The regularised incomplete beta function. */
static double beta(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double rs_student_p(double t, double df)
{
    if (isnan(t)) return 1;
    if (isinf(t)) return 0;
    return df > 0 ? beta(df / 2, 0.5, df / (df + t * t)) : erfc(fabs(t) / sqrt(2));
}

double rs_student_quantile(double p, double df)
{
    double low = 0, high = 1;
    while (rs_student_p(high, df) > p && high < 1e12) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
        double middle = (low + high) / 2;
        *(rs_student_p(middle, df) > p ? &low : &high) = middle;
    }
    return high;
}
