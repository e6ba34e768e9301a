//go:build vips && cgo

#include "pixels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Rows that are decoded, and scaled, at once.
#define STRIP 8

void
fsmcp_limit(void)
{
	vips_concurrency_set(1);
	vips_cache_set_max(0);
}

static VipsImage *
load(const void *data, size_t length, int kind, int shrink)
{
	VipsImage *in = NULL;
	void *from = (void *) data;

	switch (kind) {
	case fsmcp_jpeg:
		vips_jpegload_buffer(from, length, &in, "shrink", shrink,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_WARNING, NULL);
		break;
	case fsmcp_png:
		vips_pngload_buffer(from, length, &in,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_WARNING, NULL);
		break;
	case fsmcp_webp:
		vips_webpload_buffer(from, length, &in,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_WARNING, NULL);
		break;
	}
	return in;
}

static fsmcp_job *
job_of(VipsImage *in)
{
	fsmcp_job *j = g_new0(fsmcp_job, 1);

	j->in = in;
	j->bands = in->Bands;
	g_mutex_init(&j->lock);
	g_cond_init(&j->changed);
	return j;
}

// pixels_of is a picture of pixels without gaps, gray or in sRGB.
static VipsImage *
pixels_of(const void *pixels, int width, int height, int bands)
{
	VipsImage *out = vips_image_new_from_memory(pixels, (gsize) width * height * bands, width, height, bands, VIPS_FORMAT_UCHAR);

	if (out)
		out->Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
	return out;
}

fsmcp_job *
fsmcp_open(const void *data, size_t length, int kind, int shrink)
{
	VipsImage *in, *plain = NULL;
	VipsInterpretation space = VIPS_INTERPRETATION_sRGB;
	fsmcp_job *j;

	vips_error_clear();
	if (!(in = load(data, length, kind, shrink)))
		return NULL;
	switch (in->Type) {
	case VIPS_INTERPRETATION_B_W:
	case VIPS_INTERPRETATION_GREY16:
		if (in->Bands == 1)
			space = VIPS_INTERPRETATION_B_W;
	case VIPS_INTERPRETATION_sRGB:
	case VIPS_INTERPRETATION_RGB16:
		if (in->Bands <= 4 &&
			(in->BandFmt == VIPS_FORMAT_UCHAR || in->BandFmt == VIPS_FORMAT_USHORT))
			vips_colourspace(in, &plain, space, NULL);
	default:
		break;
	}
	g_object_unref(in);
	if (!plain || plain->BandFmt != VIPS_FORMAT_UCHAR ||
		(plain->Bands != 1 && plain->Bands != 3 && plain->Bands != 4)) {
		g_clear_object(&plain);
		return NULL;
	}
	return job_of(plain);
}

fsmcp_job *
fsmcp_wrap(const void *pixels, int width, int height, int bands)
{
	VipsImage *in = pixels_of(pixels, width, height, bands);

	return in ? job_of(in) : NULL;
}

void
fsmcp_close(fsmcp_job *j)
{
	g_object_unref(j->in);
	free(j->part);
	g_mutex_clear(&j->lock);
	g_cond_clear(&j->changed);
	g_free(j);
	vips_thread_shutdown();
}

// report says how far decoding is.
static void
report(fsmcp_job *j, int decoded, int clear, int ended)
{
	g_mutex_lock(&j->lock);
	j->decoded = decoded;
	j->clear |= clear;
	j->ended = ended;
	g_cond_broadcast(&j->changed);
	g_mutex_unlock(&j->lock);
}

// is_clear tells whether one of some pixels of four bands is transparent.
static int
is_clear(const unsigned char *p, int n)
{
	unsigned char all = 255;

	for (int i = 0; i < n; i++)
		all &= p[4 * i + 3];
	return all != 255;
}

// decode_rows copies rows of the part, as they are decoded.
static int
decode_rows(fsmcp_job *j, VipsRegion *region)
{
	const size_t line = (size_t) j->width * j->bands;

	for (int y = 0; y < j->in->Ysize; y += STRIP) {
		VipsRect r = { 0, y, j->in->Xsize, VIPS_MIN(STRIP, j->in->Ysize - y) };
		const int first = VIPS_MAX(y, j->top), end = VIPS_MIN(y + r.height, j->top + j->height);
		int clear = 0;

		if (vips_region_prepare(region, &r))
			return -1;
		if (first >= end)
			continue;
		for (int row = first; row < end; row++) {
			unsigned char *to = j->part + (row - j->top) * line;

			memcpy(to, VIPS_REGION_ADDR(region, j->left, row), line);
			if (j->bands == 4)
				clear |= is_clear(to, j->width);
		}
		report(j, end - j->top, clear, 0);
	}
	// A loader that goes on after damage leaves a message, also where that is in the last rows.
	return *vips_error_buffer() ? -1 : 0;
}

// room is memory for a picture, in large pages where the system has them: the system then
// clears 36 MB in 5 ms in place of 17.
static void *
room(size_t size)
{
	void *to = NULL;

	if (posix_memalign(&to, 2 << 20, size))
		return NULL;
#ifdef MADV_HUGEPAGE
	madvise(to, size, MADV_HUGEPAGE);
#endif
	return to;
}

int
fsmcp_decode(fsmcp_job *j)
{
	VipsRegion *region = vips_region_new(j->in);
	int failed = !(j->part = room((size_t) j->width * j->height * j->bands)) || decode_rows(j, region);

	g_object_unref(region);
	report(j, failed ? 0 : j->height, 0, failed ? -1 : 1);
	vips_thread_shutdown();
	return failed;
}

// await waits until the rows that some rows of the result are made of are decoded.
static int
await(fsmcp_job *j, int out_rows)
{
	// Lanczos reaches three rows of the result on either side; rounding adds to that.
	const int rows = VIPS_MIN(j->height, (int) ((out_rows + 6.0) * j->height / j->out_height) + 6);
	int failed;

	g_mutex_lock(&j->lock);
	while (j->decoded < rows && !j->ended)
		g_cond_wait(&j->changed, &j->lock);
	failed = j->decoded < rows || j->clear;
	g_mutex_unlock(&j->lock);
	return failed;
}

// scaled is the part at the size of the result. What is made on the way lives as long as owner.
static VipsImage *
scaled(fsmcp_job *j, VipsObject *owner)
{
	VipsImage **t = (VipsImage **) vips_object_local_array(owner, 3);
	VipsImage *in;

	if (!(t[0] = pixels_of(j->part, j->width, j->height, j->bands)))
		return NULL;
	in = t[0];
	if (j->out_bands < j->bands) {
		if (vips_extract_band(in, &t[1], 0, "n", j->out_bands, NULL))
			return NULL;
		in = t[1];
	}
	// Without a gap, Lanczos alone scales: the mean of whole pixels, which would go before it, is
	// slower.
	if (vips_resize(in, &t[2], (double) j->out_width / j->width,
			"vscale", (double) j->out_height / j->height, "gap", 0.0, NULL))
		return NULL;
	in = t[2];
	if (in->Xsize != j->out_width || in->Ysize != j->out_height || in->Bands != j->out_bands)
		return NULL;
	return in;
}

static int
scale_bands(fsmcp_job *j, VipsRegion *region)
{
	const size_t line = (size_t) j->out_width * j->out_bands;

	for (;;) {
		const int y = STRIP * g_atomic_int_add(&j->next, 1);
		VipsRect r = { 0, y, j->out_width, VIPS_MIN(STRIP, j->out_height - y) };

		if (y >= j->out_height)
			return 0;
		if (await(j, y + r.height) || vips_region_prepare(region, &r))
			return -1;
		for (int row = y; row < y + r.height; row++)
			memcpy(j->out + row * line, VIPS_REGION_ADDR(region, 0, row), line);
	}
}

// compiling is held while libvips compiles a scaler, and while it frees one: Orc, which does that
// for it, frees code without a lock (0.4.33), and another thread that compiles crashes.
static GMutex compiling;

int
fsmcp_scale(fsmcp_job *j)
{
	VipsImage *owner, *in;
	VipsRegion *region;
	int failed = -1;

	if (await(j, 0)) // for the first rows, and the memory that they are in
		return -1;
	owner = vips_image_new();
	g_mutex_lock(&compiling);
	in = scaled(j, VIPS_OBJECT(owner));
	g_mutex_unlock(&compiling);
	if (in) {
		region = vips_region_new(in);
		failed = scale_bands(j, region);
		g_object_unref(region);
	}
	g_mutex_lock(&compiling);
	g_object_unref(owner);
	g_mutex_unlock(&compiling);
	vips_thread_shutdown();
	return failed;
}

// sink is a file being written.
typedef struct {
	GByteArray *bytes;
	const gint64 *most;
	int longer;
} sink;

static gint64
sink_write(VipsTargetCustom *target, const void *data, gint64 n, sink *s)
{
	const gint64 most = s->most ? __atomic_load_n(s->most, __ATOMIC_SEQ_CST) : 0;

	if (most > 0 && s->bytes->len + n > most) {
		s->longer = 1;
		return -1;
	}
	g_byte_array_append(s->bytes, data, n);
	return n;
}

static int
encode(VipsImage *in, int keep, int quality, int level, VipsTarget *target)
{
	VipsImage *kept;
	int failed;

	if (vips_extract_band(in, &kept, 0, "n", keep, NULL))
		return -1;
	if (quality)
		failed = vips_jpegsave_target(kept, target, "Q", quality,
			"subsample_mode", VIPS_FOREIGN_SUBSAMPLE_ON, "strip", TRUE, NULL);
	else
		failed = vips_pngsave_target(kept, target, "compression", level,
			"filter", VIPS_FOREIGN_PNG_FILTER_NONE, "strip", TRUE, NULL);
	g_object_unref(kept);
	return failed;
}

int
fsmcp_encode(const void *pixels, int width, int height, int bands, int keep, int quality, int level,
	const gint64 *most, void **out, size_t *length)
{
	sink s = { g_byte_array_new(), most, 0 };
	VipsTarget *target = VIPS_TARGET(vips_target_custom_new());
	VipsImage *in = pixels_of(pixels, width, height, bands);
	int failed;

	g_signal_connect(target, "write", G_CALLBACK(sink_write), &s);
	failed = !in || encode(in, keep, quality, level, target);
	g_clear_object(&in);
	g_object_unref(target);
	vips_thread_shutdown();
	*length = s.bytes->len;
	*out = g_byte_array_free(s.bytes, failed);
	return s.longer ? 1 : failed ? -1 : 0;
}
