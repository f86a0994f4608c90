# What single tests are built with beyond the rest: TEST_CFLAGS_<name>, TEST_OBJECTS_<name>, TEST_LIBS_<name>,
# where <name> is test_<something>.
