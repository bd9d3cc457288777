// trace_processor.js - Perfetto's own trace processor, as its viewer has it, asked from Node.
//
// `folder` holds the viewer's engine_bundle.js and trace_processor.wasm.  The bundle is made for a
// browser's worker: it gets a worker's globals, and speaks TraceProcessorRpcStream
// (trace_processor.proto) over a message port.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

// --- protocol buffers, as far as the questions and answers need them ----------------------------

function varint(n) {
    const bytes = [];
    for (; n > 127; n = Math.floor(n / 128)) bytes.push((n & 127) | 128);
    bytes.push(n);
    return Buffer.from(bytes);
}

const number = (field, n) => Buffer.concat([varint(field << 3), varint(n)]);
const message = (field, b) => Buffer.concat([varint((field << 3) | 2), varint(b.length), b]);

function readVarint(b, at) {
    let v = 0n;
    for (let shift = 0n; ; shift += 7n) {
        const byte = b[at.i++];
        v |= BigInt(byte & 127) << shift;
        if (byte < 128) return BigInt.asIntN(64, v);
    }
}

// Calls on(field, value) for each field: a BigInt of a varint, a Buffer of anything else.
function eachField(b, on) {
    for (const at = {i: 0}; at.i < b.length;) {
        const tag = Number(readVarint(b, at));
        if ((tag & 7) === 0) {
            on(tag >> 3, readVarint(b, at));
            continue;
        }
        const n = (tag & 7) === 1 ? 8 : (tag & 7) === 5 ? 4 : Number(readVarint(b, at));
        on(tag >> 3, b.subarray(at.i, at.i + n));
        at.i += n;
    }
}

// A BigInt as a number where that is exact.
const plain = (v) => (v >= -(2n ** 53n) && v <= 2n ** 53n ? Number(v) : v);

// --- answers ------------------------------------------------------------------------------------

const CELL_NULL = 1n, CELL_VARINT = 2n, CELL_FLOAT = 3n, CELL_STRING = 4n;

function readCells(batch, cells) {
    const types = [], numbers = [], floats = [];
    let strings = [];
    eachField(batch, (field, value) => {
        const at = {i: 0};
        if (field === 1) while (at.i < value.length) types.push(readVarint(value, at));
        if (field === 2) while (at.i < value.length) numbers.push(plain(readVarint(value, at)));
        if (field === 3) for (let i = 0; i < value.length; i += 8) floats.push(value.readDoubleLE(i));
        if (field === 5) strings = value.toString('utf8').split('\0');
    });
    for (const type of types) {
        if (type === CELL_NULL) cells.push(null);
        else if (type === CELL_VARINT) cells.push(numbers.shift());
        else if (type === CELL_FLOAT) cells.push(floats.shift());
        else if (type === CELL_STRING) cells.push(strings.shift());
        else throw new Error(`a cell of type ${type}`);
    }
}

// --- the processor ------------------------------------------------------------------------------

class TraceProcessor {
    static APPEND = 1;
    static FINALIZE = 2;
    static QUERY = 3;

    static async open(folder) {
        const tp = new TraceProcessor();
        class XMLHttpRequest {
            open(method, url) { this.url = url; }
            send() {
                const b = fs.readFileSync(path.join(folder, path.basename(this.url)));
                this.response = b.buffer.slice(b.byteOffset, b.byteOffset + b.length);
            }
        }
        const self = {location: {href: 'file:///'}};
        const quiet = {log() {}, warn() {}, error() {}};
        const globals = {self, XMLHttpRequest, WorkerGlobalScope: class {}, console: quiet,
                         TextDecoder, TextEncoder, URL, setTimeout, clearTimeout, performance,
                         crypto: globalThis.crypto};
        vm.createContext(globals);
        vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), globals);
        tp.Bytes = vm.runInContext('Uint8Array', globals);
        tp.port = {postMessage: (b) => { tp.reply = Buffer.from(b); tp.replies.push(tp.reply); }};
        tp.replies = [];
        tp.sequence = 0;
        // The module says nowhere that it is ready, and takes no message before.
        await new Promise((resolve) => setTimeout(resolve, 1000));
        self.onmessage({data: tp.port});
        return tp;
    }

    ask(method, ...fields) {
        this.replies = [];
        const rpc = Buffer.concat([number(1, ++this.sequence), number(2, method), ...fields]);
        this.port.onmessage({data: this.Bytes.from(message(1, rpc))});
        const responses = [];
        for (const reply of this.replies)
            eachField(reply, (field, rpcReply) => eachField(rpcReply, (f, v) => {
                if (f === 5) throw new Error(`trace processor: ${v.toString()}`);
                responses.push([f, v]);
            }));
        return responses;
    }

    load(file) {
        const trace = fs.readFileSync(file), step = 8 << 20;
        for (let i = 0; i < trace.length; i += step)
            for (const [field, v] of this.ask(TraceProcessor.APPEND,
                                              message(101, trace.subarray(i, i + step))))
                if (field === 201)
                    eachField(v, (f, text) => {
                        if (f === 2) throw new Error(`${file}: ${text.toString()}`);
                    });
        this.ask(TraceProcessor.FINALIZE);
    }

    // Rows as objects by column.
    query(sql) {
        const names = [], cells = [];
        for (const [field, result] of this.ask(TraceProcessor.QUERY,
                                               message(103, message(1, Buffer.from(sql))))) {
            if (field !== 203) continue;
            eachField(result, (f, v) => {
                if (f === 1) names.push(v.toString());
                if (f === 2 && v.length) throw new Error(`${v.toString()} in: ${sql}`);
                if (f === 3) readCells(v, cells);
            });
        }
        const rows = [];
        for (let i = 0; i < cells.length; i += names.length)
            rows.push(Object.fromEntries(names.map((n, k) => [n, cells[i + k]])));
        return rows;
    }
}

module.exports = {TraceProcessor};
