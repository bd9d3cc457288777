# A server of WEBrick, one thread a request: what `jruby -run -e httpd` starts, with an answer that
# takes work.
require 'webrick'
require 'digest'

lock = Mutex.new
served = 0
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: 0, AccessLog: [],
                                 Logger: WEBrick::Log.new(File::NULL))
server.mount_proc '/work' do |_, response|
  lock.synchronize { served += 1 }
  response.content_type = 'text/plain'
  response.body = Digest::SHA256.hexdigest('orca' * 100)
end
%w[TERM INT].each { |signal| trap(signal) { server.shutdown } }
puts "port #{server.config[:Port]}"
$stdout.flush
server.start
puts "served #{served}"
