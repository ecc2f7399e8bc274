// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagProtocols
import VirtualTags

/// What a reader finds on a tag: whether it holds NDEF, how much of it, and the message.
struct TagSurvey: Sendable, Hashable {
    /// How a tag can be used.
    enum Status: String, Sendable {
        case readWrite = "read-write"
        case readOnly = "read-only"
        case notNDEF = "not-ndef"
        case password
    }

    var status: Status
    /// The longest message, in bytes; nil without NDEF.
    var capacity: Int?
    /// The message; nil when none can be read, empty for an empty tag.
    var message: [UInt8]?
    /// Why the tag holds no NDEF.
    var problem: String?

    init(of contents: TagContents) {
        do throws(TagError) {
            guard let bench = TagBench(contents) else { throw TagError(.unsupported, "No reader finds this tag.") }
            let survey = try bench.survey()
            capacity = survey.detection?.capacity
            message = survey.message
            problem = survey.error?.reason
            switch survey.detection?.access {
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
