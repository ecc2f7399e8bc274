// SPDX-License-Identifier: Apache-2.0
import TagScripts
import VirtualTags

/// Makes a blank Type 2 tag, changes it, and activates it for a script that sends frames to it.
func makeScript(
    _ product: Type2Product,
    _ change: (inout Type2Contents) -> Void = { _ in }
) async throws -> (Script, VirtualType2Tag) {
    var contents = Type2Contents(blank: product, uid: Script.uid)
    change(&contents)
    let tag = VirtualType2Tag(contents)
    let script = try Script(tag)
    try await script.activate()
    return (script, tag)
}
