// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A Type 3 tag with 16-byte blocks.
struct ModelFeliCa: ModelResponder {
    var idm = bytes("02fe001122334455")
    var pmm = bytes("00f1000000014300")
    var systems: [UInt16] = [0x88B4, 0x12FC]
    var blocks: [Int: [UInt8]]
    var readLimit = 4
    var writeLimit = 1

    init(memory: [UInt8], readLimit: Int = 4, writeLimit: Int = 1) {
        blocks = [:]
        for index in 0..<memory.count / 16 { blocks[index] = Array(memory[index * 16..<index * 16 + 16]) }
        self.readLimit = readLimit
        self.writeLimit = writeLimit
    }

    /// A Lite-S with a message.
    init(_ message: [UInt8], blockCount: Int = 13, readLimit: Int = 4, writeLimit: Int = 1, writeFlag: UInt8 = 0) {
        var attributes: [UInt8] = [
            0x10, UInt8(readLimit), UInt8(writeLimit), UInt8(blockCount >> 8), UInt8(blockCount & 0xFF), 0, 0, 0, 0,
            writeFlag, 1, 0, UInt8(message.count >> 8), UInt8(message.count & 0xFF),
        ]
        let sum = attributes.reduce(0) { $0 + Int($1) }
        attributes += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        let memory = attributes + message + [UInt8](repeating: 0, count: blockCount * 16 - message.count)
        self.init(memory: memory, readLimit: readLimit, writeLimit: writeLimit)
        guard blockCount == 13 else {
            pmm = bytes("00ff0b4b428485d0")
            return
        }
        blocks[0x88] = [0xFF, 0xFF, 0xFF, 0x01] + [UInt8](repeating: 0, count: 12)
    }

    /// The message that is there, or nil while a write that has a length is under way.
    var message: [UInt8]? {
        guard let attributes = blocks[0] else { return nil }
        let length = Int(attributes[12]) << 8 | Int(attributes[13])
        if attributes[9] != 0, length > 0 { return nil }
        return Array((1..<1 + (length + 15) / 16).flatMap { blocks[$0] ?? [] }.prefix(length))
    }

    mutating func respond(_ frame: Frame) -> ModelAnswer {
        let request = frame.bytes
        guard request.count >= 2, Int(request[0]) == request.count else { return .silence }
        if request[1] == 0, request.count == 6 {
            let matching = systems.first { code in
                (request[2] == 0xFF || request[2] == code >> 8) && (request[3] == 0xFF || request[3] == code & 0xFF)
            }
            guard let matching else { return .silence }
            let data = request[4] == 1 ? [UInt8(matching >> 8), UInt8(matching & 0xFF)] : []
            return ModelAnswer(frame: Frame([UInt8(18 + data.count), 1] + idm + pmm + data))
        }
        guard request.count > 10, Array(request[2..<10]) == idm else { return .silence }
        let parameters = Array(request[10...])
        switch request[1] {
        case 0x06:
            let (list, _) = elements(parameters)
            guard list.count <= readLimit else { return answer(7, [0xFF, 0xA2]) }
            guard list.allSatisfy({ blocks[$0] != nil }) else { return answer(7, [0x01, 0xA8]) }
            return answer(7, [0, 0, UInt8(list.count)] + list.flatMap { blocks[$0] ?? [] })
        case 0x08:
            let (list, data) = elements(parameters)
            guard list.count <= writeLimit else { return answer(9, [0xFF, 0xA2]) }
            guard list.allSatisfy({ isWritable($0) }), data.count == list.count * 16 else {
                return answer(9, [0x01, 0xA8])
            }
            for (index, block) in list.enumerated() { blocks[block] = Array(data[index * 16..<index * 16 + 16]) }
            var result = answer(9, [0, 0])
            result.wrote = true
            return result
        case 0x0C: return answer(0x0D, [UInt8(systems.count)] + systems.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        default: return .silence
        }
    }

    private func isWritable(_ block: Int) -> Bool {
        guard blocks[block] != nil else { return false }
        guard pmm[1] == 0xF1, let configuration = blocks[0x88] else { return true }
        if block == 0x88 { return configuration[2] == 0xFF }
        return configuration[block / 8] >> (block % 8) & 1 != 0
    }

    private func answer(_ code: UInt8, _ data: [UInt8]) -> ModelAnswer {
        ModelAnswer(frame: Frame([UInt8(10 + data.count), code] + idm + data))
    }

    private func elements(_ parameters: [UInt8]) -> (blocks: [Int], rest: [UInt8]) {
        var rest = parameters[(1 + 2 * Int(parameters[0]))...]
        let count = Int(rest.removeFirst())
        var result: [Int] = []
        for _ in 0..<count {
            if rest.removeFirst() & 0x80 != 0 {
                result.append(Int(rest.removeFirst()))
            } else {
                let low = Int(rest.removeFirst())
                result.append(low | Int(rest.removeFirst()) << 8)
            }
        }
        return (result, Array(rest))
    }
}
