package refusal

// The rows of the table: a slug, a colon, and a sentence whose verbs New fills with facts.
// A number after the slug is the refusal's code in every tool, if that is not the slug's own.
//
// %q quotes words of a caller and cuts them at 200 characters, %.80q at 80; %.1000s cuts text
// at 1,000 characters and marks the cut; an error is written as its innermost reason.
const (
	// Calls that the server refuses by itself.
	NotAccepted   = "busy: %s. Nothing was done; try again later."
	NotBegun      = "busy: " + string(Stopping) + ". Nothing was done."
	Cancelled     = "busy: The call was cancelled before it began. Nothing was done."
	LateToBegin   = "busy: The call waited too long behind others and was given up. Nothing was done; try again later."
	Late          = "busy: The file system did not answer in time, and the call was given up. Nothing was changed; try again later."
	LateChange    = "busy: The file system did not answer in time. The change may still complete: read the file again before repeating it."
	Bug           = "io 21: %s failed inside fsmcp; this is a bug of fsmcp. Nothing was changed."
	BugInChange   = "io 21: %s failed inside fsmcp; this is a bug of fsmcp. Read the file again to see whether it was changed."
	LongAnswer    = "too_large 6: The answer would have %d bytes, more than the %d that one answer may have. Ask for a smaller part."
	NoRoom        = "busy: The answers of the array exceed the 64 MB that may be unsent. Nothing was returned of this call; make it again outside the array."
	NoRoomChanged = "busy: The answers of the array exceed the 64 MB that may be unsent. This call was run, but its answer is left out: read the file again before repeating it."

	// Arguments, and the faults that BadArguments lists.
	BadArguments      = "bad_argument: The arguments of %s cannot be used. %s %[1]s takes: %[3]s."
	NotAnObject       = "bad_argument: The arguments of %s must be one JSON object, not %s. It takes: %s."
	UnknownArgument   = "bad_argument: There is no argument %.80q."
	MisspeltArgument  = "bad_argument: There is no argument %.80q; did you mean %s?"
	NameNotUTF8       = "bad_argument: The argument name %.80q is not valid UTF-8."
	NameSurrogate     = `bad_argument: The argument name %.80q is a string with a lone surrogate (half of a \uXXXX\uXXXX pair).`
	StringNotUTF8     = "bad_argument: %s is not valid UTF-8; send the text as UTF-8."
	StringSurrogate   = `bad_argument: %s holds a lone surrogate, half of a \uXXXX\uXXXX pair, which no file can hold; send the whole character.`
	GivenTwice        = "bad_argument: %s was given twice; give it once."
	UnknownGivenTwice = "bad_argument: %.80q was given twice; give it once."
	Required          = "bad_argument: %s is required."
	NotYet            = "bad_argument: %s cannot be used: %s. Leave it out."
	NotAString        = "bad_argument: %s must be a string, not %s."
	NotAJSONString    = "bad_argument: %s must be a string, not %s (text that is JSON itself must be sent as one string)."
	NotAList          = "bad_argument: %s must be an array, each entry %s, not %s."
	NotAnEntry        = "bad_argument: %s must be an object with %s, not %s."
	NotABool          = "bad_argument: %s must be true or false, not %s."
	NotWhole          = "bad_argument: %s must be a whole number, not %s."
	TooLargeNumber    = "bad_argument: %s is too large a number: %.80q."

	// Paths, and what is there.
	badPath         = "bad_argument: file_path %q cannot be used: it %s. Give the absolute path of one file."
	badSpelling     = "bad_argument: The path %q %s. %s"
	endsInSlash     = "bad_argument: The path %q ends in a slash, which names a folder; leave the slash out to name the file."
	linkLoop        = "not_found: Too many symbolic links (more than 40) on the way to %s: they may form a loop. Name the file itself."
	fileInPath      = "not_found: File does not exist. A part of the path %s that should be a folder is a file."
	notThere        = "not_found: File does not exist. Path: %s.%s"
	nothingThere    = "not_found: File does not exist. Nothing is at %s any more: it was moved or deleted, or a link on the way leads nowhere."
	Gone            = "not_found 19: The file %s was there when it was read and is gone now: it was moved or deleted. Nothing was changed. If it should be created anew, call Write with its whole content."
	isDevice        = "special_file: %s is a device or another process's stream, not a file: it is never opened. Name a regular file."
	Special         = "special_file: %s is a device, a FIFO or a socket, not a regular file: it is neither read nor written."
	directory       = "is_directory: %s is a directory, not a file. Name a file in it."
	directoryEmpty  = "is_directory: %s is a directory, not a file. It holds nothing that can be named here."
	directoryHolds  = "is_directory: %s is a directory, not a file. Name a file in it; it holds:\n%s"
	binaryFile      = "binary: This tool cannot read binary files. The file appears to be %s. Please use appropriate tools for binary file analysis.\nPath: %s"
	binaryUnchanged = "binary: %s appears to be %s, not text: it is never changed here. Nothing was changed. Please use appropriate tools for binary files."
	binaryInPart    = "binary: %s appears to be a binary file from some place on: it holds bytes there that are no text. Nothing was changed. Please use appropriate tools for binary files."
	officeUnchanged = "binary: %s is an Office document: Read shows its text, but it is never changed here. Nothing was changed. Write a new .md or .csv file with the text that you want, or have the document changed by another program."
	NotText         = "binary: %s is a %s file, not text: it is never changed here. Nothing was changed."

	// Permissions and the user's consent.
	deniedByRule      = "denied: File is in a directory that is denied by your permission settings.\nPath: %s\n%s"
	deniedBuiltin     = "denied: %s is a name below /proc, /sys or /dev, or leads to one: nothing there is read or written, and no rule can allow it."
	deniedState       = "denied: %s lies in a folder that fsmcp keeps for itself: no tool writes there, and no rule can allow it."
	planMode          = "plan_mode: Plan mode: files are read, not changed, until the user leaves it. Nothing was changed in %s.%s"
	unserved          = "denied: The workspace folder %q %s: %s, and it is not made. Tell the user to correct the folder that fsmcp was started with, or to make it; the next call then works."
	deniedTool        = "denied: %s is denied by your permission settings.\n%s"
	needsConsent      = "denied: %s %s needs the user's consent (%s), which cannot be asked for here.%s"
	Unanswered        = "denied: Nothing was done: consent was needed for %s (%s), and the user %s. Do not try the same again in another way; ask the user how to go on."
	UnansweredUnknown = "denied: Nothing was done: consent was needed, and the user %s. Do not try the same again in another way; ask the user how to go on."

	// Move and Delete.
	NoEntries      = "bad_argument: %s names nothing. %s"
	TooManyEntries = "bad_argument: %s names more than %d files and folders. Make several calls, each with fewer."
	GlobNoMatch    = "not_found: Nothing matches %s that may be read. In it *, ? and ** are wildcards; Glob lists what is there."
	OneDestination = "bad_argument: Give moves, or from and to beside it, not both; each entry needs a from and a to."
	ToExists       = "exists: %s exists already: nothing is ever replaced by a Move. Move it to another name first, or give another to."
	FolderCopy     = "bad_argument: %s is a folder, and copy takes files. Name the files in it, for example with a pattern."
	IntoItself     = "bad_argument: %s cannot go into itself (%s). Give a to outside of it."
	StaysHere      = "denied: %s is, or holds, a workspace folder, a settings file or a folder of fsmcp's own: it is neither moved nor deleted, and no rule can allow it."
	CoveredBelow   = "denied: %s holds something that a rule of your permission settings covers, so it is not moved, copied or deleted as a whole. Name the files in it that are meant, one by one."
	TooManyBelow   = "too_large: %s holds too many names to be decided on in one call. Name the folders in it one by one."
	NotEmpty       = "not_empty: %s is a folder that is not empty. Set recursive to delete it with all that it holds."
	NotAFolderName = "bad_argument: %q ends in a slash, which names a folder, and %s is none; leave the slash out."
	NotKept        = "not_kept: Nothing was deleted: the history would not keep %s, so that it could not be restored, and the user's consent to that cannot be asked for here. Only the user can delete it."
	TooManyHooked  = "hook: Nothing was changed: hooks of the user's that run before changes name more than %d files below %s. Name fewer files at once."
	NoPlainCall    = "denied: Nothing was done: a call that changes %d names which it does not spell needs the user's consent, which cannot be asked for here. Name at most %d at once."
	NamesPartial   = "partial: %s"
	DeletedShown   = "not_read: A file of that name was deleted in this conversation, and it was never shown in full. Path: %s. It is shown below and counts as read; the same call passes now.\n%s"
	DeletedUnseen  = "not_read: %s was deleted in this conversation (%s) and never shown in full, so that no new file takes its name. Use another name; the user gets the old one back by: %s."
	ChangedBefore  = "modified: " + modified + " Path: %s."
	acrossTooMuch  = "too_large: %s lies on another file system than its new name, and it is too large to be moved there in one call (1 GiB or 10,000 names). Move its parts."
	noExclusive    = "io: %s cannot be moved there without the risk of replacing something: this file system has no way to do that. Nothing was changed."
	mountPoint     = "special_file: Something is mounted at %s: it is neither moved nor deleted."

	// Read.
	BadLimit            = "bad_argument 7: limit is how many lines to read (with column: characters) and must be at least 1; %d is not."
	BadColumn           = "bad_argument 7: column is the number of the first character, counted from 1; %d is not one."
	ColumnWithoutOffset = "bad_argument: column pages through one long line: give offset (the line) with it. limit then counts characters."
	TooLargeToRead      = "too_large: File content (%s) exceeds maximum allowed size (%s). Please use offset and limit parameters to read specific portions of the file, or search for specific content%s. A call that fits: %s."
	TooManyTokens       = "too_many_tokens: File content (%d tokens) exceeds maximum allowed tokens (%d). Please use offset and limit parameters to read specific portions of the file, or search for specific content%s. A call that fits: %s."

	// Pictures and PDFs.
	EmptyImage    = "broken_file 5: Empty image files cannot be processed. Path: %s\nIt has no bytes: have it made anew, or name another file."
	TooLongImage  = "too_large: The image %s has %s, which is more than is handed to a decoder. Have it converted by another program and read that."
	tooManyPixels = "too_large: The image %s has %dx%d pixels (%s decoded), more than is decoded: at most %d megapixels, %d pixels a side and %d MB. Have it scaled down by another program and read that; the user can raise these bounds (the settings under images)."
	imageForVips  = "broken_file: The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode without libvips (%s). Ask the user to install libvips and to put fsmcp-vips beside fsmcp, which decodes most of these; or have it converted to PNG or JPEG by another program, and read that."
	imageRare     = "broken_file: The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode (%s). Have it converted to PNG or JPEG by another program, and read that."
	imageDamaged  = "broken_file: The image %s cannot be shown: as a %s it is damaged (%s). No part of it is shown, since a part would pass for the whole. Have it made anew, or mended by another program, and read that."
	imageRegion   = `bad_argument 7: The region of the image %s cannot be shown: %s. The upright image has %dx%d pixels; region is "x,y,width,height" in these.`
	imageNoFit    = "too_large: The image %s cannot be brought within the limits on images (the setting maxImageTokens, or what this client takes), not even at 400 pixels and the lowest quality. region shows a smaller part of it."

	EmptyPDF   = "broken_file: PDF file is empty: %s\nIt has no bytes: have it made anew, or name another file."
	TooLongPDF = "too_large: PDF file exceeds maximum allowed size of 32MB. %s has %s; have it divided, or its text extracted, by another program."
	pdfPages   = "bad_argument 7: The PDF %s was not read: %s. It has %d pages; a call shows at most %d of them.%s"
	pdfLocked  = "broken_file: The PDF %s is encrypted with a password and cannot be read. Ask the user for an unlocked copy."
	pdfDamaged = "broken_file: The PDF %s cannot be read: it is damaged (%s). Have it made anew, or mended by another program, and read that."
	pdfNoMedia = "binary: %s is a PDF. PDFs are read by the program fsmcp-media, which does not lie beside fsmcp here; have the user put it there (make build makes both) or name it in FSMCP_MEDIA, or extract the text by another program."

	TooLongOffice = "too_large: %s has %s: an Office document of more than 32 MB is not read. Have it divided, or its text extracted, by another program."
	officeLocked  = "broken_file: The Office document %s is encrypted with a password and cannot be read. Ask the user for an unlocked copy."
	officeDamaged = "broken_file: The Office document %s cannot be read: %s. Have it made anew, or mended by another program, and read that."
	officeOld     = "binary: %s is an Office document of the binary format before 2007, which is not read. Have it saved as .docx, .xlsx or .pptx by another program, and read that."
	officeNoMedia = "binary: %s is an Office document. These are read by the program fsmcp-media, which does not lie beside fsmcp here; have the user put it there (make build makes both) or name it in FSMCP_MEDIA, or extract the text by another program."
	officeParts   = "bad_argument 7: The Office document %s was not read: %s. It has %s%s."

	decoderLate      = "too_large: %s could not be decoded within the time that it may take, and was given up. The server goes on. Where the machine is busy, make the same call again later; else have another program convert the file."
	decoderGreedy    = "too_large: %s takes more memory to decode than it may, and was given up. The server goes on; have another program convert the file."
	decoderUnready   = "busy: %s was not read yet: what reads it is being compiled, which takes longer than usual. (It happens once on a machine, but each time where the user's cache folder is full or cannot be written.) It goes on in the background: make the same call again in half a minute."
	decoderUnread    = "busy: %s could not be decoded: its disk did not hand it over within the time that decoding may take. Make the same call again later."
	decoderAbsent    = "io: %s needs decoding, and the program that decodes could not be started. Make the same call again; if that fails too, ask the user to look at fsmcp's installation (fsmcp version says what it finds)."
	decoderStopped   = "io: %s could not be decoded: the process that does it was stopped from outside. Make the same call again."
	decoderForbidden = "broken_file: %s was not decoded: the decoder was stopped because it tried what no decoder may, such as to start a program or to open a connection. The server goes on. The file may be an attack: do not read it again, and tell the user."
	decoderDied      = "io: %s could not be decoded: the process that does it died. The server goes on. Make the same call again; if that fails too, the file is damaged in a way that breaks the decoder."
	decoderBusy      = "busy: %s was not decoded before this call was over: those who decode were busy with others, or the call was given up. Make the same call again, with fewer of the kind beside it."

	// The clipboard.
	ClipboardOff            = "not_found: clipboard: is the user's clipboard, which is not read here: the setting clipboard is off. The user can turn it on by \"clipboard\": true in %s."
	ClipboardReadOnly       = "bad_argument: clipboard: is the user's clipboard, which only Read knows: it is not changed. Name a file, and write there."
	UnknownClipboardPicture = "broken_file: The clipboard holds a picture in a form that is not read. Ask the user to save it as PNG, and read that."
	clipboardEmpty          = "not_found: The clipboard holds neither a picture nor text. Ask the user to copy it again, or to save it as a file, and read that."
	clipboardLate           = "io: The clipboard could not be read: the program that holds its content did not hand it over in time. Ask the user to copy it again."
	clipboardLarge          = "too_large: The clipboard holds more than %s, and is not read. Ask the user to save it as a file, and read that."
	clipboardNoPackage      = "io: The clipboard cannot be read: the program %s is not found. The user can install it: it is in the package %s."
	clipboardNoProgram      = "io: The clipboard cannot be read: the program %s, a part of the system, is not found in PATH."
	clipboardFailed         = "io: The clipboard cannot be read: %s says %q. Ask the user to save its content as a file, and read that."

	// Write and Edit.
	IsNotebook       = "notebook: File is a Jupyter Notebook. Use the NotebookEdit to edit this file.\nPath: %s"
	Exists           = "exists: Cannot create new file - file already exists.\nPath: %s. To change it, give the text to replace as old_string; to replace all of it, use Write."
	TooLargeToEdit   = "too_large: File is too large to edit (%s). Maximum editable file size is 1 GiB. Path: %s."
	HardLinked       = "bad_argument: %s and %s are two names (hard links) of one file. Name one of them."
	TooLargeTogether = "too_large: The files of the call have %s: at most 256 MB together, and one above 64 MB, are edited in one call. Divide the call."
	NoTimeLeft       = "busy: The call took too long, and was stopped before this file."
	Partial          = "partial: %s\n%s"
	NoEdits          = "bad_argument: edits must have 1 to %d entries, not %d."
	NoFileNamed      = "bad_argument: edits[%d] names no file: give file_path in it, or once beside the list."
	TooLargeToAppend = "too_large 10: File is too large to append to (%s). Maximum size is 1 GiB. Path: %s."
	TooLittleMemory  = "too_large: File is too large to edit now (%s): it is changed in memory, and %s are free. Make the same call again later, or change it with another program. Path: %s."
	StubAsText       = "bad_argument: %s is the notice that a file is unchanged, not a file's text. Read the file again and send the text itself."
	StrayBytes       = "not_encodable: %s holds %d bytes that are no valid text in its encoding; Write would lose them. Use Edit, which keeps them byte for byte."
	unencodable      = "not_encodable: The file's encoding cannot hold the character %s (U+%04X, line %d of the new text). Nothing was changed. Leave that character out or write it in another way."

	BadLine         = "bad_argument: line is the number of the line in which the match starts, counted from 1; %d is negative."
	noMatch         = "no_match: String to replace not found in file.\nString: %.1000s\nPath: %s\n%s"
	NoExactMatch    = "no_match: String to replace not found in file.\nString: %.1000s\nPath: %s\nIn a file above 64 MiB only an exact match is looked for. Read the lines to be changed and copy old_string from them, without the line numbers."
	notUnique       = "not_unique: Found %d matches of the string to replace, but replace_all is false. Set replace_all to true, or to replace only one, give a longer old_string, or the number of its line as line.\nThe matches begin in %s of %s:\n%s"
	notUniqueInLine = "not_unique: Found %d matches of the string to replace that start in line %d of %s, and replace_all is false. Give a longer old_string. They begin in %s:\n%s"
	otherLine       = "no_match: No match of the string to replace starts in line %d of %s. Give the number of one of their lines as line: they begin in %s:\n%s"
	staleLine       = "modified: " + modified + " Path: %s. Whether line %d is still the line that was shown is unknown; a longer old_string needs no line."
	tooManyMatches  = "too_large: old_string is in %s %d times; at most %d places of a file of this size are replaced in one call. Give a longer old_string."
	sameStrings     = "no_change: No changes to make: old_string and new_string are exactly the same."
	strippedToSame  = "no_change: No changes to make: old_string and new_string are the same once %s was stripped from new_string (trailing white space at line ends is not kept here)."

	// NotebookEdit, and Read of a notebook.
	TooLargeNotebook  = "too_large: The notebook %s has %s; notebooks of at most 64 MB are %s."
	ColumnWithoutCell = "bad_argument: In a notebook column pages through one line of a cell: give cell_id with it. Without cell_id offset and limit count cells."
	BrokenNotebook    = "broken_file: %s cannot be read as a notebook: %s at byte %d. With offset and limit its raw text is paged; shown in full, Write may replace it."
	largeViewBytes    = "too_large: Notebook content (%s as text) exceeds maximum allowed size (%s). %s"
	largeViewTokens   = "too_many_tokens: Notebook content (%d tokens) exceeds maximum allowed tokens (%d). %s"
	cellsOfOneID      = "no_such_cell: %d cells of %s bear the id %q.%s"
	noCellOfIndex     = "no_such_cell: %s has no cell %q: it has %d cells, cell-0 the first.%s"
	noCellOfID        = "no_such_cell: %s has no cell with the id %q.%s"
	NotNotebook       = "not_notebook: File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.\nPath: %s"
	BadCellType       = "bad_argument 2: cell_type must be code, markdown or raw, not %q."
	InsertWithoutType = "bad_argument 3: insert needs cell_type: code, markdown or raw."
	BadMode           = "bad_argument 4: edit_mode must be replace, insert or delete, not %q."
	WithoutCell       = "bad_argument 5: %s needs cell_id: the cell's id, or cell-N for the Nth cell, counted from 0."
	WithoutSource     = `bad_argument 12: %s needs new_source; "" makes an empty cell.`
	badSource         = "bad_argument: new_source is not valid UTF-8. Nothing was changed in %s."
	EmptyNotebook     = "broken_file 6: %s is empty, and so no notebook yet. Write can fill it."
	notebookNotText   = "broken_file 6: %s is no notebook: it is not UTF-8 text."
	notebookInvalid   = "broken_file 6: %s is no valid notebook: %s at byte %d. Read pages its raw text with offset and limit; Write may replace it once all of it was shown."
	notebookOld       = "broken_file 6: %s is of nbformat %d.%d; notebooks of nbformat 4 and later are edited. Convert it first (jupyter nbconvert --to notebook --nbformat 4)."

	// The beginnings of the refusals of a change of a file that was not shown, or that has
	// changed since.
	unread        = "File has not been read yet. Read it first before writing to it. "
	modified      = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
	modifiedShown = "File has been modified since read; the change is shown below and counts as read. Path: %s.\nThis is all that changed "

	// Files that were not shown, or not in full.
	NotRead          = "not_read: " + unread + "Call Read with file_path \"%s\", then make the same call again."
	Unseen           = "partly_read: " + unread + "Of %s %s were never shown. Go on with %s, then make the same call again."
	UnseenShown      = "partly_read: " + unread + "Of %s only a part was shown; these lines never were. They count as shown now: check them, then make the same call again.\n%s"
	unseenMatch      = "partly_read: " + unread + "Of %s the text that this call would replace was never shown. Go on with %s, then make the same call again."
	unseenMatchShown = "partly_read: " + unread + "Of %s the text that this call would replace was never shown. Here it is with what stands around it; it counts as shown now: check it, then make the same call again.\n%s"
	UnseenInNotebook = "partly_read: " + unread + "Of %s cell %s was never shown. Read it (offset and limit count cells, cell_id shows one), then make the same call again."
	UnseenCell       = "partly_read: " + unread + "Cell %s of %s was never shown in full. Call Read with cell_id %q, then make the same call again."
	UnreadCellShown  = "not_read: " + unread + "Here is the source of cell %s of %s; it counts as shown now: check it, then make the same call again.\n%s"
	UnseenCellShown  = "partly_read: " + unread + "Cell %s of %s was never shown. Here is its source; it counts as shown now: check it, then make the same call again.\n%s"

	// Files that have changed since they were shown.
	changed             = "modified: " + modifiedShown + "%s%s\n%s%s"
	changedNotebook     = "modified: " + modifiedShown + "in the notebook's file %s%s\n%s"
	ChangedMuch         = "modified: " + modified + " Path: %s.\n%s Go on with %s, then make the same call again."
	ChangedNotebookMuch = "modified: " + modified + " Path: %s.\n%s Go on with Read of the cells that the call is about (cell_id shows one, offset and limit count cells)."
	changedWhileSaving  = "modified: " + modified + " Another program wrote to %s while this call was saving; its text was kept and nothing of yours was written."

	// Files that the user has not let be read: a refusal tells nothing of their text.
	hiddenChanged   = "modified: " + modified + " Path: %s.\n%s"
	hiddenNotRead   = "not_read: " + unread + "%s"
	hiddenPartly    = "partly_read: " + unread + "Of %s the text that this call would replace was never shown, or is not there. %s"
	hiddenCell      = "no_such_cell: %s has no such cell, or more than one. %s"
	hiddenNoMatch   = "no_match: String to replace not found in file.\nPath: %s\n%s"
	hiddenNotUnique = "not_unique: The string to replace is in %s more than once, but replace_all is false. Give more of the text around it, or set replace_all to true."
	hiddenOther     = "io: %s cannot be changed like this. %s"

	// Saving.
	keptBusy     = "busy: The file %s is busy: other programs keep renaming it, or the folders and links on the way to it. Nothing was changed. Wait a moment, then make the same call again."
	saveBusy     = "busy: The file %s is busy: %s. Nothing was changed. Wait a moment, then make the same call again."
	heldOpen     = "busy: The file %s is busy: %s. Wait a moment, then make the same call again."
	notHere      = "io: The content of %s is not on this machine: it is kept online. Nothing was searched. Read fetches it; then make the same call again."
	beingWritten = "busy: The file %s is being written to by another program right now. Wait a moment, then make the same call again."
	appeared     = "exists: The file %s appeared while this call was creating it: another program made it. Nothing was changed. Read it first."
	vanished     = "not_found 19: The file %s was there when it was read and is gone now: it was moved or deleted by another program. Nothing was changed. Write can create it again."
	readOnly     = "read_only: The file %s is read-only (its mode has no write permission). Nothing was changed. Ask the user to make it writable (chmod u+w) if it should be edited."
	readOnlySet  = "read_only: The file %s is read-only (its read-only attribute is set). Nothing was changed. Ask the user to take the attribute off (attrib -r) if it should be edited."
	lockedFlag   = "read_only: The file %s is locked (it has the flag uchg or uappnd). Nothing was changed. Ask the user to unlock it (chflags nouchg,nouappnd, or Get Info in Finder) if it should be edited."
	noHistory    = "io: Nothing was changed in %s: its old text could not be kept in fsmcp's history (%s). Ask the user to make room in fsmcp's state folder, or to set history.required to false."
	noLocks      = "io: Nothing was changed in %s: fsmcp has no folder for its locks. %s, and %s is not used either: %s. Ask the user to make one of them theirs alone and writable."
	noJournal    = "io: Nothing was changed in %s: it can be %s (%s), and a journal against a crash cannot be kept. %s. Tell the user."
	noAudit      = "io: Nothing was changed in %s: audit.required is set, and the audit file cannot be written (%s). Tell the user."
	saveMixed    = "io: I/O error while saving %s (%s): %s. The old text could not be put back, so that the file may hold parts of both until fsmcp starts again and finishes the change. Read the file before going on."
	saveChanged  = "io: I/O error while saving %s (%s): %s. The new text is in place, but what followed failed: read the file before going on."
	saveMissing  = "io: I/O error while saving %s (%s): %s. The file is missing now: its old text was moved to a temporary name beside it, and that name could not be taken back. Ask the user to start fsmcp again, which gives the file its name back, then read it."
	saveFailed   = "io: I/O error while saving %s (%s): %s. Nothing was changed."
	otherError   = "io: I/O error on %s: %s. Nothing was changed."
	stopping     = "busy: The server is stopping, and the call was given up. Nothing was changed in %s."
	cancelled    = "busy: The call was cancelled. Nothing was changed in %s."
	deadline     = "busy: %s could not be served in time: another call is working on it, or its disk does not answer. Nothing was changed. Make the same call again later."

	// Hooks of the user.
	hookBroken  = "hook: Nothing was changed in %s: the user has a hook that may refuse this call and cannot be run, in line %d of %s: %s. Tell the user; until that is mended, the same call is refused again."
	hookSilent  = "hook: Nothing was changed in %s: the user's hook %s refused this call and gave no reason. Ask the user before you try it again."
	hookRefused = "hook: Nothing was changed in %s: the user's hook %s refused this call. Its reason:\n%s\nDo as it says: without that the same call is refused again."
	hookNotRun  = "hook: Nothing was changed in %s: the user's hook %s, which might refuse it, %s. Tell the user: until that is mended, the same call is refused again."
	hookFailed  = "hook: Nothing was changed in %s: the user's hook %s, which may refuse it, %s. Make the same call again, and tell the user if it fails again.%s"

	// Glob and Grep.
	Negative              = "bad_argument: %s must be 0 or more, not %d."
	EmptyPattern          = "bad_argument: pattern is empty."
	OnlyAFolder           = "bad_argument: pattern %q names only a folder. Name what to find in it, such as %q."
	BadOutputMode         = "bad_argument: output_mode must be %s, not %q."
	NoStart               = "denied: There is no workspace directory that %s may search.%s Name a folder with path, or ask the user to start fsmcp with one."
	BadStart              = "bad_argument: path %q cannot be used: it %s. Give the absolute path of a folder or a file."
	NotAFolder            = "bad_argument: %s is not a folder. Name the folder to search with path."
	badGlob               = "bad_argument: %s %q cannot be parsed: a bracket or brace is not closed, or the backslash at its end escapes nothing. Patterns look like *.go or src/**/*.{ts,tsx}."
	BadNotation           = "bad_argument: %s %q cannot be used: it %v. Patterns look like *.go, src/**/*.go or C:/folder/**/*.go."
	ForeignPattern        = "bad_argument: %s %q begins as a path of another system. Use %q; without the slash at its beginning it starts from the folder that is searched."
	unknownType           = "bad_argument: There is no file type %q.%s the files with glob, such as *.%s."
	neverSearched         = "bad_argument: Folders named .git and fsmcp's own folders are never searched. Name another folder with path."
	lateSearch            = "busy: The search was given up: other searches took the time. Make the same call again later, or narrow it."
	patternLookAround     = "bad_argument: pattern cannot be used%s. Look-around, (?=…), (?!…), (?<=…) and (?<!…), is not supported: the syntax is RE2. Search for the text itself, with context lines where it needs them."
	patternBackReference  = `bad_argument: pattern cannot be used%s. Back-references such as \1 are not supported: the syntax is RE2. Search for the text itself.`
	patternTooLarge       = "bad_argument: pattern takes too much memory%s. Use smaller repeat counts."
	patternNeedsMultiline = "bad_argument: pattern holds a line break, and without multiline=true a match lies within one line. Set multiline=true."
	badPattern            = `bad_argument: pattern cannot be compiled: %s%s. To search for the characters themselves, put a backslash before each of . ( ) [ ] { } + * ? ^ $ | and \.`
)

// Busy is a reason why the server accepts no call now.
type Busy string

// The reasons.
const (
	TooManyCalls  Busy = "Too many calls are waiting already"
	TooManyStuck  Busy = "Too many calls hang in the file system"
	TooMuchOutput Busy = "Too much output waits for the rest of an array of messages"
	Stopping      Busy = "The server is stopping"
)
