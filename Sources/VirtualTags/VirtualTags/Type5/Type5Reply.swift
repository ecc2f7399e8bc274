// SPDX-License-Identifier: Apache-2.0

/// The result of a command.
struct Type5Reply: Sendable {
    var data: [UInt8]
    /// The number of programmed blocks; 0 when the memory has not changed.
    var programmedBlocks: Int
    /// Whether the answer is sent at once even if the option flag is set, because the flag has another meaning for this
    /// command.
    var ignoresOption = false
    /// Whether the tag does not answer.
    var isSilent = false

    /// No answer.
    static let silence: Type5Reply = {
        var reply = Type5Reply()
        reply.isSilent = true
        return reply
    }()

    init(_ data: [UInt8] = [], programmedBlocks: Int = 0) {
        self.data = data
        self.programmedBlocks = programmedBlocks
    }
}
