#include <vips/vips.h>

// Kinds of files.
enum { fsmcp_jpeg, fsmcp_png, fsmcp_webp };

// fsmcp_job decodes a part of a picture and scales it, both at once: what is decoded
// already is scaled while the rest is decoded.
typedef struct {
	VipsImage *in; // the picture, which is read once, from top to bottom
	int left, top; // where the part begins
	// Pixels of the part, and of the result: rows without gaps. The result has no alpha.
	unsigned char *part, *out;
	int width, height, bands;
	int out_width, out_height, out_bands;

	// Private to fsmcp_decode and fsmcp_scale.
	GMutex lock;
	GCond changed;
	int decoded; // rows of the part
	int ended;   // decoding ended: 1 well, -1 with an error
	int clear;   // a pixel is transparent
	int next;    // the band that is scaled next
} fsmcp_job;

// fsmcp_limit has libvips use no cache and no threads of its own.
void fsmcp_limit(void);

// fsmcp_open reads the header of a file, which stays in use until fsmcp_close. NULL: libvips
// refuses it, or its pixels are neither gray nor RGB.
fsmcp_job *fsmcp_open(const void *data, size_t length, int kind, int shrink);

// fsmcp_wrap is a job for pixels that are decoded. They stay in use until fsmcp_close.
fsmcp_job *fsmcp_wrap(const void *pixels, int width, int height, int bands);

// fsmcp_decode decodes the part. It decodes all of the file, so that damage anywhere in it is
// found. Other than 0: it is damaged.
int fsmcp_decode(fsmcp_job *j);

// fsmcp_scale scales bands of the part, as soon as they are decoded, until none is left. It may
// run in several threads at once. Other than 0: it failed, or a pixel is transparent.
int fsmcp_scale(fsmcp_job *j);

void fsmcp_close(fsmcp_job *j);

// fsmcp_encode makes a JPEG of some quality, or a PNG (quality 0), of the first keep bands of
// each pixel. It gives up with 1 beyond so many bytes as most says at the time; NULL, 0: any.
int fsmcp_encode(const void *pixels, int width, int height, int bands, int keep, int quality, int level,
	const gint64 *most, void **out, size_t *length);
