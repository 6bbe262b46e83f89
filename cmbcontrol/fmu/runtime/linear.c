/* Least squares by Householder reflections. Matrices are stored row by row. */

/* G (m, n), m >= n, becomes Q R: reflections at and below the diagonal, R above it, its diagonal in r. Where a column
   depends on those before it, the result is 0. */
static int qr_factor(double *G, int m, int n, double *r)
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        double norm = 0.0, head;
        for (i = k; i < m; i++) {
            norm = hypot(norm, G[i * n + k]);
        }
        if (!(norm > 0.0)) {
            return 0;
        }
        if (G[k * n + k] > 0.0) {
            norm = -norm;
        }
        /* the reflection is along w = column - norm e_k, stored so that its first entry is 1 + |x_k / norm| */
        for (i = k; i < m; i++) {
            G[i * n + k] /= -norm;
        }
        G[k * n + k] += 1.0;
        head = G[k * n + k];
        for (j = k + 1; j < n; j++) {
            double s = 0.0;
            for (i = k; i < m; i++) {
                s += G[i * n + k] * G[i * n + j];
            }
            s /= -head;
            for (i = k; i < m; i++) {
                G[i * n + j] += s * G[i * n + k];
            }
        }
        r[k] = norm;
    }
    return 1;
}

/* y (m) becomes Q'y, or Q y. */
static void qr_turn(const double *G, int m, int n, double *y, int transposed)
{
    int i, at;
    for (at = 0; at < n; at++) {
        int k = transposed ? at : n - 1 - at;
        double s = 0.0;
        for (i = k; i < m; i++) {
            s += G[i * n + k] * y[i];
        }
        s /= -G[k * n + k];
        for (i = k; i < m; i++) {
            y[i] += s * G[i * n + k];
        }
    }
}

/* The x (n) with the least |G x - y|, in the first entries of y (m). */
static void qr_solve(const double *G, int m, int n, const double *r, double *y)
{
    int i, k;
    qr_turn(G, m, n, y, 1);
    for (k = n - 1; k >= 0; k--) {
        for (i = k + 1; i < n; i++) {
            y[k] -= G[k * n + i] * y[i];
        }
        y[k] /= r[k];
    }
}

/* The smallest y (m) with G'y = f, of which f (n) is in the first entries of y. */
static void qr_solve_transposed(const double *G, int m, int n, const double *r, double *y)
{
    int i, k;
    for (k = 0; k < n; k++) {
        for (i = 0; i < k; i++) {
            y[k] -= G[i * n + k] * y[i];
        }
        y[k] /= r[k];
    }
    for (k = n; k < m; k++) {
        y[k] = 0.0;
    }
    qr_turn(G, m, n, y, 0);
}

/* y (m) without its part in the range of G. */
static void qr_remainder(const double *G, int m, int n, double *y)
{
    int k;
    qr_turn(G, m, n, y, 1);
    for (k = 0; k < n; k++) {
        y[k] = 0.0;
    }
    qr_turn(G, m, n, y, 0);
}

/* The symmetric H (n, n) becomes L below the diagonal and D on it, H = L D L'; 0 where it is not positive definite. */
static int ldl_factor(double *H, int n)
{
    int i, j, k;
    for (k = 0; k < n; k++) {
        double whole = H[k * n + k];
        for (j = 0; j < k; j++) {
            H[k * n + k] -= H[k * n + j] * H[k * n + j] * H[j * n + j];
        }
        /* what rounding leaves of a pivot is no inertia */
        if (!(H[k * n + k] > 1e-14 * whole)) {
            return 0;
        }
        for (i = k + 1; i < n; i++) {
            for (j = 0; j < k; j++) {
                H[i * n + k] -= H[i * n + j] * H[k * n + j] * H[j * n + j];
            }
            H[i * n + k] /= H[k * n + k];
        }
    }
    return 1;
}

/* y (n) becomes the solution of H x = y. */
static void ldl_solve(const double *H, int n, double *y)
{
    int i, k;
    for (k = 0; k < n; k++) {
        for (i = 0; i < k; i++) {
            y[k] -= H[k * n + i] * y[i];
        }
    }
    for (k = n - 1; k >= 0; k--) {
        y[k] /= H[k * n + k];
        for (i = k + 1; i < n; i++) {
            y[k] -= H[i * n + k] * y[i];
        }
    }
}
