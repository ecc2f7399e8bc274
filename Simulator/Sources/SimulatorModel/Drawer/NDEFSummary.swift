// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagProtocols
import VirtualTags

/// What a reader finds out about a tag: its NDEF status, its capacity and its message.
struct NDEFSummary: Sendable, Hashable {
    /// How a tag can be used.
    enum Status: String, Sendable {
        case readWrite = "read-write"
        case readOnly = "read-only"
        case notNDEF = "not-ndef"
        case password
    }

    var status: Status
    /// The maximum length of a message, in bytes; nil if the tag can't hold NDEF.
    var capacity: Int?
    /// The message; nil if it can't be read, empty if the tag is empty.
    var message: [UInt8]?
    /// Why the tag can't hold NDEF.
    var problem: String?

    init(of contents: TagContents) {
        do throws(TagError) {
            guard let editor = VirtualTagEditor(contents) else {
                throw TagError(.unsupported, "No reader can detect this tag.")
            }
            let summary = try editor.queryNDEFStatus()
            capacity = summary.detection?.capacity
            message = summary.message
            problem = summary.error?.reason
            switch summary.detection?.access {
            case .readWrite: status = .readWrite
            case .readOnly: status = .readOnly
            case nil: status = .notNDEF
            }
        } catch {
            status = .notNDEF
            problem = error.reason
        }
        if status == .readWrite, contents.type2?.firstProtectedPage != nil { status = .password }
    }
}
