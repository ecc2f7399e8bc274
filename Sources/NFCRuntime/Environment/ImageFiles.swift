// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The image files whose tags are near the virtual field of a process.
struct ImageFiles: Sendable {
    /// Why a file can't be used, as a sentence for people.
    struct Failure: Error {
        var reason: String
    }

    /// The tags, in the order of their files.
    let tags: [any VirtualTag]
    /// Writes changed images back; nil when that is not wanted.
    let saver: (@Sendable () -> Void)?

    /// Loads the images that a configuration names, or the demonstration tag when it names none.
    init(_ configuration: ReaderConfiguration) throws(Failure) {
        guard let names = configuration.tags else {
            tags = [DemonstrationTag.make()]
            saver = nil
            return
        }
        throw Failure(reason: "soon \(names)")
    }
}
