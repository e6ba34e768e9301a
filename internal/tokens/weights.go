package tokens

// weights holds the weight of each class, in 1/256 of a token. They were fitted to a
// public tokenizer (cl100k_base) over some megabytes of code, prose in twenty languages
// and data, but for that of signs and white space, which is a round mean; the tests say how
// well they hold on other texts.
var weights = [classes]int64{
	// Parts of words by length after a blank or nothing: small, capital, capitals.
	256, 256, 256, 256, 256, 256, 256, 256, 346, 256, 416, 401, 497, 640, 558, 654,
	256, 256, 256, 256, 556, 455, 256, 765, 801, 312, 508, 536, 549, 539, 586, 722,
	384, 256, 256, 256, 256, 436, 256, 256, 304, 256, 343, 417, 458, 508, 448, 570,
	// Parts of words by length after tab: small, capital, capitals.
	291, 350, 256, 281, 309, 256, 346, 306, 329, 420, 426, 448, 477, 509, 535, 566,
	256, 264, 305, 342, 305, 316, 337, 342, 382, 389, 417, 440, 472, 502, 534, 566,
	337, 379, 533, 772, 513, 469, 348, 444, 406, 403, 417, 447, 473, 507, 540, 566,
	// Parts of words by length after sign: small, capital, capitals.
	256, 515, 431, 312, 256, 256, 384, 256, 359, 653, 432, 598, 423, 548, 519, 534,
	256, 419, 506, 365, 256, 443, 487, 275, 456, 473, 543, 456, 491, 515, 536, 575,
	343, 566, 480, 269, 349, 393, 403, 378, 340, 450, 490, 465, 470, 517, 531, 565,
	// Parts of words by length after another part: small, capital, capitals.
	0, 25, 448, 585, 591, 365, 215, 542, 377, 350, 383, 442, 484, 506, 537, 584,
	256, 572, 398, 176, 153, 93, 0, 134, 376, 625, 503, 415, 518, 514, 537, 565,
	510, 26, 421, 415, 326, 304, 313, 333, 357, 381, 407, 440, 473, 502, 532, 563,
	// Parts of words by length after digits: small, capital, capitals.
	266, 256, 296, 541, 661, 434, 277, 329, 342, 362, 388, 452, 464, 524, 538, 576,
	256, 452, 335, 256, 256, 256, 256, 309, 337, 375, 410, 440, 471, 502, 532, 563,
	256, 397, 289, 307, 268, 268, 303, 328, 352, 383, 412, 440, 471, 502, 532, 563,
	// Letters beyond the longest.
	26, 592, 88,
	// Groups of digits; runs of signs, white space.
	256, 274,
	// Characters by script.
	246, 313, 158, 68, 258, 81, 514, 331, 208, 302, 243, 190,
	167, 526, 0, 563, 115, 50, 118, 574, 464, 256,
	// Runs of them.
	196, 272, 0, 452, 62, 207, 272, 58, 55, 47, 28, 129,
	210, 75, 206, 236, 0, 0, 137, 344, 202, 26,
}
