package gateway;

import common.Case;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A gateway on Netty whose handler asks another server: on the event loop (or on an executor of its own). */
public class BlockedLoop {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        var accept = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("accept"), NioIoHandler.newFactory());
        var loops = new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("loop"), NioIoHandler.newFactory());
        EventExecutorGroup blocking = new DefaultEventExecutorGroup(64, new DefaultThreadFactory("blocking"));
        Backend backend = new Backend(it.peer(), it.strength(40, 15));
        Channel server = new ServerBootstrap()
                .group(accept, loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65_536));
                        ChannelHandler gateway = new GatewayHandler(backend);
                        if (it.planted()) {
                            channel.pipeline().addLast(gateway);
                        } else {
                            channel.pipeline().addLast(blocking, gateway);
                        }
                    }
                })
                .bind("127.0.0.1", 0)
                .sync()
                .channel();
        System.out.println("ready " + ((InetSocketAddress) server.localAddress()).getPort());
        server.closeFuture().sync();
    }
}

class GatewayHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final Backend backend;

    GatewayHandler(Backend backend) {
        this.backend = backend;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws IOException {
        String answer = request.uri().startsWith("/stock") ? backend.stock(request.uri()) : "gateway";
        var response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer(answer, StandardCharsets.UTF_8));
        HttpUtil.setContentLength(response, response.content().readableBytes());
        HttpUtil.setKeepAlive(response, true);
        context.writeAndFlush(response);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}

class Backend {
    private final int port;
    private final int ms;

    Backend(int port, int ms) {
        this.port = port;
        this.ms = ms;
    }

    String stock(String article) throws IOException {
        var url = URI.create("http://127.0.0.1:" + port + "/?ms=" + ms).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        connection.setReadTimeout(10_000);
        if (connection.getResponseCode() != 200) throw new IOException("no answer about " + article); // holder
        try (var body = connection.getInputStream()) {
            return new String(body.readAllBytes()).strip();
        }
    }
}
