// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What was found out about a reader while tags were in it. It does not change until the reader is unplugged.
struct ReaderFindings: Sendable, Hashable {
    /// The PN53x inside. The inner nil means a reader without a PN53x, or without access to it.
    var chip: String??
    /// The instruction of transparent sessions. The inner nil means a reader without them.
    var transparent: [Technology: UInt8?] = [:]
    /// Whether Traverse transmits ISO/IEC 15693 requests.
    var traverse: Bool?
}
