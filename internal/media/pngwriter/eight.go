package pngwriter

import "encoding/binary"

// eight is eight bytes in one word: what is computed with them, each for itself,
// takes a third of the time that one after the other does.
type eight uint64

const (
	signs eight = 0x8080808080808080 // the highest bit of each
	ones  eight = 0x0101010101010101
	evens eight = 0x00ff00ff00ff00ff
)

func load(b []byte) eight      { return eight(binary.LittleEndian.Uint64(b)) }
func (e eight) store(b []byte) { binary.LittleEndian.PutUint64(b, uint64(e)) }

// first keeps the first n bytes; the others are 0.
func (e eight) first(n int) eight { return e & (1<<(8*n) - 1) }

// minus is what is left of each byte without that of f, and the sign of those that
// are no less than f's.
func (e eight) minus(f eight) (d, noLess eight) {
	t := (e | signs) - f&^signs
	return t ^ (e^^f)&signs, (e&^f | ^(e^f)&t) & signs
}

// mask has all bits of the bytes whose sign is set.
func mask(sign eight) eight { return sign<<1 - sign>>7 }

// either is a's byte where the sign is set, and b's elsewhere.
func either(sign, a, b eight) eight { return b ^ (a^b)&mask(sign) }

// negated is each byte where its sign is not set, and what is missing to 0 where it
// is. It must not be 0 there.
func (e eight) negated(sign eight) eight { return (e ^ mask(sign)) + sign>>7 }

// sum adds up bytes that are 128 at most, as if each had the sign of an int8.
func (e eight) sum() int {
	size := e.negated(e & signs)
	pairs := size&evens + size>>8&evens
	return int(pairs * 0x0001000100010001 >> 48)
}

// mean is half the sum of two bytes.
func mean(a, b eight) eight { return a&b + (a^b)>>1&^signs }

// predicted is PNG's Paeth predictor: of left, up and corner the one that is
// nearest to left + up - corner.
func predicted(left, up, corner eight) eight {
	fromLeft, upNoLess := up.minus(corner)
	fromUp, leftNoLess := left.minus(corner)
	fromLeft, fromUp = fromLeft.negated(upNoLess^signs), fromUp.negated(leftNoLess^signs)
	fromCorner, leftNearer := fromUp.minus(fromLeft)
	fromCorner = fromCorner.negated(leftNearer ^ signs)
	_, noFurther := fromCorner.minus(either(leftNearer, fromLeft, fromUp))
	// That is how far the corner is where its byte is between those of the others;
	// elsewhere it is further than both.
	others := noFurther | ^(upNoLess^leftNoLess)&signs
	return either(others, either(leftNearer, left, up), corner)
}
