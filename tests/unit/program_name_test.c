/* A recording names the program and not its arguments: program_name.h. */
#include "agent/program_name.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void check(const char *command, const char *class_path, const char *want)
{
    char text[200];
    snprintf(text, sizeof text, "%s", command);
    program_name_cut(text, class_path);
    cr_assert_str_eq(text, want);
}

Test(program_name, arguments_are_cut)
{
    check("shop.Main --password=secret x", "classes", "shop.Main");
    check("shop.Main", "classes", "shop.Main");
    check("shop/shop.Main secret", "", "shop/shop.Main");
    check("", "", "");
}

Test(program_name, a_jar_may_have_blanks_in_its_path)
{
    check("/opt/my shop/shop 1.jar secret", "/opt/my shop/shop 1.jar", "/opt/my shop/shop 1.jar");
    check("shop.jar", "shop.jar", "shop.jar");
    check("shop.jar.Main secret", "shop.jar", "shop.jar.Main");
}

Test(program_name, a_source_file_is_the_program)
{
    check("jdk.compiler/com.sun.tools.javac.launcher.Main Prices.java secret", "", "Prices.java");
    check("jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher /a/Prices.java", "",
          "/a/Prices.java");
}
