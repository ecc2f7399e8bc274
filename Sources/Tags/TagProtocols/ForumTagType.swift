// SPDX-License-Identifier: Apache-2.0

/// The five tag types of the NFC Forum.
public enum ForumTagType: Int, Sendable, Hashable, CaseIterable {
    case type1 = 1
    case type2, type3, type4, type5
}
