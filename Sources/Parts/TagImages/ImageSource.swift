// SPDX-License-Identifier: Apache-2.0
import VirtualCards

/// What an image was read from, kept as it is.
protocol ImageSource: Sendable {
    /// The file's format.
    var format: TagImage.Format { get }
    /// The file.
    var bytes: [UInt8] { get }
    /// What the tag held.
    var contents: TagContents { get }
    /// What was found while the file was read.
    var remarks: [TagImageRemark] { get }
    /// The names of what ``contents`` has no place for.
    var leftOut: [String] { get }

    /// The file with what the tag holds now, all else as it was; nil when the format is not written.
    func encoded(_ now: TagContents) -> [UInt8]?
}

extension ImageSource {
    var remarks: [TagImageRemark] { [] }
    var leftOut: [String] { [] }
}
