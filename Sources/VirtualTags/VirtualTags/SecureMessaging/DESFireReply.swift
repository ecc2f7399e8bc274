// SPDX-License-Identifier: Apache-2.0

/// The result of a native command.
struct DESFireReply: Sendable {
    var data: [UInt8] = []
    /// The positions where a new frame starts, besides those where a frame is full.
    var cuts: [Int] = []
    var status = DESFireStatus.success
    /// The number of bytes that were programmed; 0 when the memory is unchanged.
    var programmed = 0

    init(data: [UInt8] = [], status: DESFireStatus = .success, programmed: Int = 0) {
        self.data = data
        self.status = status
        self.programmed = programmed
    }

    /// Creates an answer with a frame for each part.
    init(parts: [[UInt8]]) {
        data = Array(parts.joined())
        for part in parts.dropLast() { cuts.append((cuts.last ?? 0) + part.count) }
    }
}
