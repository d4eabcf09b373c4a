/* Student's t distribution, and the normal one as its limit: probabilities and quantiles. Pure functions; any thread. */
#ifndef RS_COMPARE_STUDENT_H
#define RS_COMPARE_STUDENT_H

/* The probability of a value of at least |t|, on both sides together. df 0: the normal distribution. */
double rs_student_p(double t, double df);
/* The t that is exceeded with probability p, on both sides together (0 < p <= 1). */
double rs_student_quantile(double p, double df);

#endif
