// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// The file that an image was read from.
protocol ImageSource: Sendable {
    /// The file's format.
    var format: TagImage.Format { get }
    /// The bytes of the file.
    var bytes: [UInt8] { get }
    /// The contents of the tag in the file.
    var contents: TagContents { get }
    /// The remarks from reading the file.
    var remarks: [TagImageRemark] { get }
    /// The names of the parts that ``contents`` has no place for.
    var leftOut: [String] { get }

    /// Returns the file with the tag's current contents; everything else is unchanged. nil when the format can't be
    /// written.
    func encoded(_ now: TagContents) -> [UInt8]?
}

extension ImageSource {
    var remarks: [TagImageRemark] { [] }
    var leftOut: [String] { [] }
}
