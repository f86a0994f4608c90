// What goes wrong: a class for each code of the library.

/** A call that failed. Nothing has changed, unless it is an OutcomeUnknownError. */
export class SesliteError extends Error {
    constructor(message, facts = {}) {
        super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
        this.name = new.target.name;
        this.code = new.target.code ?? "INTERNAL";
        this.version = facts.version;
        this.engineCode = facts.engineCode ?? 0;
        this.offset = facts.offset;
        this.index = facts.index;
        this.madeIds = facts.madeIds;
    }
}

const classes = new Map();

function kind(number, code) {
    const made = class extends SesliteError {
        static code = code;
    };
    classes.set(number, made);
    classes.set(code, made);
    return made;
}

// The names are those of the package for Python. (A class that is assigned to a name has that name only if it
// has none.)
function named(name, made) {
    Object.defineProperty(made, "name", { value: name });
    return made;
}

export const OutOfMemoryError = named("OutOfMemoryError", kind(-1, "NOMEM"));
export const MisuseError = named("MisuseError", kind(-2, "MISUSE"));
export const InvalidError = named("InvalidError", kind(-3, "INVALID"));
export const JsonError = named("JsonError", kind(-4, "JSON"));
export const NotFoundError = named("NotFoundError", kind(-5, "NOTFOUND"));
export const ExistsError = named("ExistsError", kind(-6, "EXISTS"));
export const StaleError = named("StaleError", kind(-7, "STALE"));
export const BusyError = named("BusyError", kind(-8, "BUSY"));
export const ReadOnlyError = named("ReadOnlyError", kind(-9, "READONLY"));
export const FullError = named("FullError", kind(-10, "FULL"));
export const IoError = named("IoError", kind(-11, "IO"));
export const CorruptError = named("CorruptError", kind(-12, "CORRUPT"));
export const NotAStoreError = named("NotAStoreError", kind(-13, "NOTASTORE"));
export const TooNewError = named("TooNewError", kind(-14, "TOONEW"));
export const LimitError = named("LimitError", kind(-15, "LIMIT"));
export const InterruptedError = named("InterruptedError", kind(-16, "INTERRUPTED"));
export const StateTypeError = named("StateTypeError", kind(-17, "TYPE"));
export const StateRangeError = named("StateRangeError", kind(-18, "RANGE"));
export const CantOpenError = named("CantOpenError", kind(-19, "CANTOPEN"));
export const InternalError = named("InternalError", kind(-20, "INTERNAL"));
export const OutcomeUnknownError = named("OutcomeUnknownError", kind(-21, "UNKNOWN"));
export const LeasedError = named("LeasedError", kind(-22, "LEASED"));
export const ConstraintError = named("ConstraintError", kind(-23, "CONSTRAINT"));
export const WrongKeyError = named("WrongKeyError", kind(-24, "KEY"));
export const UnsupportedError = named("UnsupportedError", kind(-25, "UNSUPPORTED"));

/** Makes the error of a number of the library or of a code's name. */
export function makeError(code, message, facts) {
    const made = classes.get(code) ?? InternalError;
    return new made(message, facts);
}
