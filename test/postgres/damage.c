/* Damaged rows: see server/damage.h. */
#include "place.h"

#define OVERFLOW                                                                           \
    "CREATE FUNCTION public.overflow() RETURNS trigger LANGUAGE plpgsql AS "               \
    "$$ BEGIN NEW.changed_us := NEW.changed_us + 9223372036854775807; RETURN NEW; END $$;" \
    "CREATE TRIGGER overflow BEFORE UPDATE ON seslite.sessions "                           \
    "FOR EACH ROW EXECUTE FUNCTION public.overflow()"

#include "server/damage.h"
