-- tomcat.lua - wrk's script for tomcat.sh: a plain servlet, a session, two JSPs, in turn.
local paths = {
    "/examples/servlets/servlet/HelloWorldExample",
    "/examples/servlets/servlet/SessionExample",
    "/examples/jsp/dates/date.jsp",
    "/examples/servlets/servlet/RequestInfoExample",
    "/examples/jsp/snp/snoop.jsp",
}
local turn = 0

request = function()
    turn = turn % #paths + 1
    return wrk.format("GET", paths[turn])
end
