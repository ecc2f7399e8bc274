// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A chip's answer: the bytes after the response code and the IDm.
struct FeliCaChipAnswer: Sendable {
    var payload: [UInt8]
    var workTime = Airtime.zero
    var isWrite = false

    init(_ payload: [UInt8], workTime: Airtime = .zero, isWrite: Bool = false) {
        self.payload = payload
        self.workTime = workTime
        self.isWrite = isWrite
    }

    init(_ status: FeliCaStatus, workTime: Airtime = .zero, isWrite: Bool = false) {
        self.init(status.bytes, workTime: workTime, isWrite: isWrite)
    }
}
