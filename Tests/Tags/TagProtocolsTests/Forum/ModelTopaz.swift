// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A Topaz 96 or 512.
struct ModelTopaz: ModelResponder {
    var header: [UInt8]
    var memory: [UInt8]

    init(header: String, memory: [UInt8]) {
        self.header = bytes(header)
        self.memory = memory
    }

    /// A Topaz with a message.
    init(_ message: [UInt8], isLarge: Bool) {
        var memory = bytes("0102030405062a00")
        memory += bytes(isLarge ? "e1103f000103f230330203f00203" : "e1100e00")
        var data = [0x03] + (message.count > 254 ? [0xFF, UInt8(message.count >> 8)] : [])
        data += [UInt8(message.count & 0xFF)] + message + [0xFE]
        let end = isLarge ? 512 : 104
        while memory.count < end {
            if memory.count == 104 { memory += [UInt8](repeating: 0, count: 24) }
            memory.append(data.isEmpty ? 0 : data.removeFirst())
        }
        if !isLarge { memory += [UInt8](repeating: 0, count: 16) }
        self.init(header: isLarge ? "124c" : "1148", memory: memory)
    }

    mutating func respond(_ frame: Frame) -> ModelAnswer {
        var request = frame.bytes
        guard frame.checksum == .crcB, request.count >= 7 else { return .silence }
        func answer(_ bytes: some Sequence<UInt8>, wrote: Bool = false) -> ModelAnswer {
            ModelAnswer(frame: Frame(Array(bytes), checksum: .crcB), wrote: wrote)
        }
        if request[0] == 0x78 { return answer(header + memory[..<4]) }
        guard Array(request.suffix(4)) == Array(memory[..<4]) else { return .silence }
        request.removeLast(4)
        let address = Int(request[1])
        switch (request[0], request.count) {
        case (0x00, 3): return answer(header + memory[..<120])
        case (0x53, 3), (0x1A, 3):
            guard address < 120 else { return .silence }
            write([request[2]], at: address, isErasing: request[0] == 0x53)
            return answer([request[1], memory[address]], wrote: true)
        case (0x02, 10) where address * 8 + 8 <= memory.count && memory.count > 120:
            return answer([request[1]] + memory[address * 8..<address * 8 + 8])
        case (0x10, 10) where (address >> 4) * 128 + 128 <= memory.count:
            return answer([request[1]] + memory[(address >> 4) * 128..<(address >> 4) * 128 + 128])
        case (0x54, 10), (0x1B, 10):
            guard memory.count > 120, address * 8 + 8 <= memory.count else { return .silence }
            write(Array(request[2...]), at: address * 8, isErasing: request[0] == 0x54)
            return answer([request[1]] + memory[address * 8..<address * 8 + 8], wrote: true)
        default: return .silence
        }
    }

    private mutating func write(_ bytes: [UInt8], at address: Int, isErasing: Bool) {
        for (index, byte) in bytes.enumerated() {
            let place = address + index
            let block = place / 8
            let isLocked = block < 16 && memory[112 + block / 8] >> (block % 8) & 1 != 0
            let isOneTime = (104..<128).contains(place)
            guard !isLocked || isOneTime else { continue }
            memory[place] = isErasing && !isOneTime ? byte : memory[place] | byte
        }
    }
}
